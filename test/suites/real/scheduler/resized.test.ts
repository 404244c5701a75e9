import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, ContainerStatus } from 'kubernetes-types/core/v1.js';
import { nodes, pods } from '../../../../kube/api/object.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { givenRelease } from '../../../support/real-parts/release.ts';
import { withRealParts } from '../suite.ts';
import { isReady, nodeOf, refusalOf, Stage, startWorld } from './stage.ts';
import { startScheduler } from './subjects.ts';

const CPUS = 12;

interface Case {
  why: string;
  /** Of containers; of init containers that end, and of those that stay. */
  main?: string;
  init?: string;
  beside?: string;
  /** Of the pod as a whole. */
  whole?: string;
  status: object;
}

const pending = (reason: string): object => ({ conditions: [{ type: 'PodResizePending', status: 'True', reason }] });
const asWhole = (granted: string | undefined, has: string): object => ({
  ...(granted !== undefined && { allocatedResources: { cpu: granted } }),
  resources: { requests: { cpu: has } },
});
const of = (name: string, granted: string, has: string): ContainerStatus => ({
  ...({ name, image: 'app:1', imageID: '', ready: true, restartCount: 0 } as const),
  allocatedResources: { cpu: granted },
  resources: { requests: { cpu: has } },
});

const all: Case[] = [
  { why: 'a container has more', status: { containerStatuses: [of('main', '1', '3')] } },
  { why: 'a container never gets more', main: '9', status: { ...pending('Infeasible'), containerStatuses: [of('main', '1', '2')] } },
  { why: 'the whole has more', whole: '2', status: asWhole('2', '4') },
  { why: 'the whole was granted more', whole: '2', status: asWhole('5', '4') },
  { why: 'the whole is to have more', whole: '6', status: asWhole('2', '2') },
  { why: 'the whole waits for more', whole: '6', status: { ...pending('Deferred'), ...asWhole('2', '2') } },
  { why: 'the whole never gets more', whole: '9', status: { ...pending('Infeasible'), ...asWhole('2', '3') } },
  { why: 'only what was granted to the whole is told', whole: '2', status: { allocatedResources: { cpu: '5' } } },
  { why: 'only what the whole has is told', whole: '2', status: asWhole(undefined, '5') },
  { why: 'the whole says nothing of what it asks', status: asWhole('3', '4') },
  { why: 'the whole says nothing, its container is told', status: { ...asWhole('5', '6'), containerStatuses: [of('main', '1', '3')] } },
  { why: 'the whole and its container are told', whole: '3', status: { ...asWhole('3', '4'), containerStatuses: [of('main', '1', '6')] } },
  { why: 'an init container had more', init: '2', status: { initContainerStatuses: [of('init', '5', '5')] } },
  { why: 'one beside has more', beside: '2', status: { initContainerStatuses: [of('beside', '4', '4')] } },
];

/** What kube-scheduler takes pods for that are resized in place, as their status says it, and what we do. */
const release = await givenRelease();
/** Pods as a whole are resized from 1.36 on. */
const cases = all.filter(({ whole }) => whole === undefined || release.minor >= 36);
const compare = (): void => {
  test(`pods that are resized take as much as with kube-scheduler ${release.version}`, async () => {
    const world = await startWorld({ release, controllers: '' });
    try {
      const stage = await Stage.open(world, 'resized', cases.length, CPUS);
      const wrong: string[] = [];
      await using theirs = await startScheduler('kube-scheduler', world.plane);
      for (const [n, each] of cases.entries()) {
        await stage.cluster.label(n, { case: `c${n}` });
        const own = (): string | undefined =>
          world.more
            .get(nodes.resource)
            ?.list()
            .find(({ metadata }) => metadata.labels?.['case'] === `c${n}`)?.metadata.name;
        await stage.until('the node is labelled', () => own() !== undefined);
        const pod = await resized(stage, `p${n}`, own() ?? '', each);
        await stage.known(n);
        const real = await taken(stage, n);
        const ours = podInfoOf(pod).requests.cpu / 1_000;
        if (ours !== real) wrong.push(`${each.why}: ${real}, not ${ours}`);
      }
      assert.deepEqual(wrong, [], await theirs.log());
    } finally {
      await world.stop();
    }
  });
};
await withRealParts('pods that are resized', ['etcd', 'kube-apiserver', 'kube-scheduler'], compare, release);

async function resized(stage: Stage, name: string, nodeName: string, { main = '1', init, beside, whole, status }: Case): Promise<Pod> {
  const container = (name: string, cpu: string, more: object = {}): Container => ({
    ...more,
    name,
    image: 'app:1',
    resources: { requests: { cpu } },
  });
  const initContainers = [
    ...(init === undefined ? [] : [container('init', init)]),
    ...(beside === undefined ? [] : [container('beside', beside, { restartPolicy: 'Always' })]),
  ];
  const resources: object = whole === undefined ? {} : { resources: { requests: { cpu: whole } } };
  await stage.create(name, { spec: { nodeName, containers: [container('main', main)], initContainers, ...resources } });
  // What plays its kubelet says no more of it then.
  await stage.until(`${name} is ready`, () => isReady(stage.pod(name)));
  return stage.client.patch<Pod>(pods, { name, namespace: stage.name }, { status }, { type: 'strategic', subresource: 'status' });
}

/** How much of the node is taken, by the largest pod that still fits. */
async function taken(stage: Stage, n: number): Promise<number> {
  for (let cpu = CPUS; cpu > 0; cpu--) {
    const name = `probe-${n}-${cpu}`;
    await stage.create(name, { cpu: String(cpu), spec: { nodeSelector: { case: `c${n}` } } });
    await stage.until(`${name} is decided on`, () => nodeOf(stage.find(name)) !== '' || refusalOf(stage.find(name)) !== undefined);
    if (nodeOf(stage.find(name)) !== '') return CPUS - cpu;
  }
  return CPUS;
}
