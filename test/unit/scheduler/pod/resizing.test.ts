import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodStatus } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { keeper } from '../as-kept.ts';
import { pod } from '../builders.ts';

const INFEASIBLE = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };
const cases: { why: string; spec: string; granted?: string; has?: string; more?: Partial<PodStatus>; takes: number }[] = [
  { why: 'what it asks for, when nothing is said of what it has', spec: '1', takes: 1_000 },
  { why: 'what it has, when it is to have less and has not given it back', spec: '1', granted: '3', has: '3', takes: 3_000 },
  { why: 'what it was granted, when it has less yet', spec: '2', granted: '2', has: '500m', takes: 2_000 },
  { why: 'what it has, when less was granted', spec: '1', granted: '1', has: '1500m', takes: 1_500 },
  { why: 'what it asks for, when it is to have more', spec: '3', granted: '1', has: '1', takes: 3_000 },
  { why: 'what it has, when its node can never give more', spec: '30', granted: '1', has: '1', more: INFEASIBLE, takes: 1_000 },
  { why: 'the same, of servers before 1.33', spec: '30', granted: '1', has: '1', more: { resize: 'Infeasible' }, takes: 1_000 },
];

function statusOf(name: string, granted: string | undefined, has: string | undefined): ContainerStatus {
  return {
    ...({ name, image: 'app:1', imageID: '', ready: true, restartCount: 0 } as const),
    ...(granted === undefined ? {} : { allocatedResources: { cpu: granted } }),
    ...(has === undefined ? {} : { resources: { requests: { cpu: has } } }),
  };
}

for (const { why, spec, granted, has, more, takes } of cases)
  test(`a pod takes ${why}`, () => {
    const one = pod('web').on('a').cpu(spec).memory('1Gi').build();
    Object.assign(one, { status: { ...one.status, ...more, containerStatuses: [statusOf('main', granted, has)] } });
    const { requests } = podInfoOf(keeper().pod(one));
    assert.equal(requests.cpu, takes);
    assert.equal(requests.scoredCpu, takes);
    if (more === undefined) assert.equal(requests.memory, 2 ** 30);
  });

const guessed: { why: string; whole?: object; main?: object; init?: object; overhead?: object; mebibytes: number }[] = [
  { why: 'what is usual, where nobody says', mebibytes: 200 },
  { why: 'what is usual, where the whole speaks of others', whole: { cpu: '2' }, mebibytes: 200 },
  { why: 'both, where the pod does not ask as a whole', init: { memory: '1Gi' }, mebibytes: 1_224 },
];
for (const { why, whole, main = {}, init, overhead, mebibytes } of guessed)
  test(`for points a pod takes ${why}`, () => {
    const asked: object = {
      containers: [{ name: 'main', resources: { requests: main } }],
      ...(init && { initContainers: [{ name: 'beside', restartPolicy: 'Always', resources: { requests: init } }] }),
      ...(whole && { resources: { requests: whole } }),
      ...(overhead && { overhead }),
    };
    assert.equal(podInfoOf({ metadata: { name: 'p' }, spec: asked as { containers: [] } }).requests.scoredMemory, mebibytes * 2 ** 20);
  });
