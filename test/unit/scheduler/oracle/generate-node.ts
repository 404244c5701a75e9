import type { Taint } from 'kubernetes-types/core/v1.js';
import type { Node } from '../../../../scheduler/types.ts';
import type { Chance } from './chance.ts';

const MIB = 1024 * 1024;

/** Names with their sizes: the same image has the same size wherever it is. */
const images: readonly [name: string, sizeBytes: number][] = [
  ['web:1', 700 * MIB],
  ['web:latest', 15 * MIB],
  ['host:5000/db:latest', 1900 * MIB],
  ['tool:3', 333 * MIB],
];

export const imageNames = ['web:1', 'web', 'host:5000/db', 'tool:3', 'unknown:1'];

export const taintPool: readonly Taint[] = [
  { key: 'dedicated', value: 'db', effect: 'NoSchedule' },
  { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
  { key: 'broken', effect: 'NoExecute' },
  { key: 'old', effect: 'PreferNoSchedule' },
  { key: 'slow', value: 'yes', effect: 'PreferNoSchedule' },
  { key: 'noisy', effect: 'PreferNoSchedule' },
];

/**
 * Most nodes are like each other, some miss something that others have.
 * @param even - nodes that differ in little: there several are often the best together
 */
export function randomNode(chance: Chance, name: string, even: boolean): Node {
  const isPlain = even && chance.of(85);
  const labels = isPlain ? { [HOST]: name, ...chance.maybe(80, () => ({ [ZONE]: chance.one(['z1', 'z2']) })) } : randomLabels(chance, name);
  const made: Node = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}`, labels } };
  if (isPlain) return { ...made, spec: {}, status: { allocatable: { cpu: '2', memory: '4Gi', pods: '6' } } };
  const spec = { ...randomTaints(chance), ...chance.maybe(6, () => ({ unschedulable: true })) };
  return { ...made, spec, status: { allocatable: randomRoom(chance), images: randomImages(chance) } };
}

/** The same node, otherwise in one respect. */
export function changedNode(chance: Chance, node: Node): Node {
  const { metadata, spec, status } = node;
  const { name = '' } = metadata;
  const { unschedulable, ...rest } = spec ?? {};
  const changes: (() => Node)[] = [
    () => ({ ...node, metadata: { ...metadata, labels: randomLabels(chance, name) } }),
    () => ({ ...node, spec: { ...randomTaints(chance), ...(unschedulable !== undefined && { unschedulable }) } }),
    () => ({ ...node, status: { ...status, allocatable: randomRoom(chance) } }),
    () => ({ ...node, spec: unschedulable === true ? rest : { ...rest, unschedulable: true } }),
    () => ({ ...node, status: { ...status, images: randomImages(chance) } }),
    // One label alone, or one taken away: what is counted per value must follow.
    () => ({ ...node, metadata: { ...metadata, labels: oneLabelChanged(chance, metadata.labels ?? {}) } }),
    // A heartbeat.
    () => ({ ...node, metadata: { ...metadata, resourceVersion: String(chance.upTo(1_000_000)) }, status: { ...status } }),
  ];
  return chance.one(changes)();
}

export const ZONE = 'topology.kubernetes.io/zone';
export const HOST = 'kubernetes.io/hostname';

function randomLabels(chance: Chance, name: string): Record<string, string> {
  return {
    ...chance.maybe(96, () => ({ [HOST]: chance.of(2) ? 'shared' : name })),
    ...chance.maybe(88, () => ({ [ZONE]: chance.one(['z1', 'z2', 'z3']), 'topology.kubernetes.io/region': 'r' })),
    ...chance.maybe(60, () => ({ rack: chance.one(['1', '2', '3', '4']) })),
    ...chance.maybe(60, () => ({ disk: chance.one(['ssd', 'hdd']) })),
    ...chance.maybe(40, () => ({ cores: chance.one(['4', '8', '16', 'many']) })),
  };
}

function oneLabelChanged(chance: Chance, labels: Record<string, string>): Record<string, string> {
  const key = chance.one([ZONE, 'rack', 'disk', HOST]);
  const { [key]: _, ...rest } = labels;
  return chance.of(30)
    ? rest
    : { ...rest, [key]: key === ZONE ? chance.one(['z1', 'z2', 'z3', 'z4']) : chance.one(['1', '2', 'ssd', 'hdd']) };
}

function randomTaints(chance: Chance): { taints?: Taint[] } {
  return chance.of(35) ? { taints: chance.some(taintPool, 25) } : {};
}

function randomRoom(chance: Chance): Record<string, string> {
  return {
    cpu: chance.one(['1', '2', '2', '4', '4', '1500m', '3999m']),
    memory: chance.one(['1Gi', '2Gi', '4Gi', '4Gi', '5000000k']),
    'ephemeral-storage': '10Gi',
    pods: chance.one(['3', '6', '8', '8', '12', '110']),
    ...chance.maybe(20, () => ({ 'example.com/gpu': chance.one(['1', '2', '4']) })),
    ...chance.maybe(10, () => ({ 'hugepages-2Mi': '64Mi' })),
  };
}

function randomImages(chance: Chance): { names: string[]; sizeBytes: number }[] {
  return chance.some(images, 45).map(([name, sizeBytes]) => ({ names: [`${name}@sha256:0`, name], sizeBytes }));
}
