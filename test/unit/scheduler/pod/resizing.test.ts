import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContainerStatus, PodStatus } from 'kubernetes-types/core/v1.js';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { keeper } from '../as-kept.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

const INFEASIBLE = { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }] };
const cases: { why: string; spec: string; granted?: string; has?: string; more?: Partial<PodStatus>; takes: number }[] = [
  { why: 'what it asks for, when nothing is said of what it has', spec: '1', takes: 1_000 },
  { why: 'what it has, when it is to have less and has not given it back', spec: '1', granted: '3', has: '3', takes: 3_000 },
  { why: 'what it was granted, when it has less yet', spec: '2', granted: '2', has: '500m', takes: 2_000 },
  { why: 'what it has, when less was granted', spec: '1', granted: '1', has: '1500m', takes: 1_500 },
  { why: 'what it asks for, when it is to have more', spec: '3', granted: '1', has: '1', takes: 3_000 },
  { why: 'what it asks for, when its node has to wait with it', spec: '3', granted: '1', has: '1', more: deferred(), takes: 3_000 },
  { why: 'what it has, when its node can never give more', spec: '30', granted: '1', has: '1', more: INFEASIBLE, takes: 1_000 },
  { why: 'the same, of servers before 1.33', spec: '30', granted: '1', has: '1', more: { resize: 'Infeasible' }, takes: 1_000 },
  { why: 'what it asks for, in whatever words', spec: '1', granted: '1000m', has: '1', takes: 1_000 },
  { why: 'what it asks for, when only what was granted is told', spec: '1', granted: '3', takes: 1_000 },
];

function deferred(): Partial<PodStatus> {
  return { conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Deferred' }] };
}

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

test('init containers that stay take what they have, those that end what they ask for', () => {
  const init = (name: string, restartPolicy?: string) => ({
    name,
    image: 'app:1',
    resources: { requests: { cpu: '1' } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const one = pod('web')
    .on('a')
    .cpu('1')
    .spec({ initContainers: [init('first'), init('beside', 'Always')] })
    .build();
  Object.assign(one, { status: { initContainerStatuses: [statusOf('first', '9', '9'), statusOf('beside', '2', '2')] } });
  assert.equal(podInfoOf(keeper().pod(one)).requests.cpu, 3_000);
});

const wholes: { why: string; spec?: string; granted?: string; has?: string; more?: Partial<PodStatus>; takes: number }[] = [
  { why: 'what it asks for, when nothing is said of what it has', spec: '1', takes: 1_000 },
  { why: 'what it has, when it is to have less and has not given it back', spec: '1', granted: '1', has: '3', takes: 3_000 },
  { why: 'what it was granted, when it has less yet', spec: '1', granted: '3', has: '2', takes: 3_000 },
  { why: 'what it asks for, when it is to have more', spec: '3', granted: '1', has: '1', takes: 3_000 },
  { why: 'what it has, when its node can never give more', spec: '30', granted: '2', has: '2', more: INFEASIBLE, takes: 2_000 },
  { why: 'what its containers take, when it says nothing as a whole', granted: '3', has: '3', takes: 500 },
];
for (const { why, spec, granted, has, more, takes } of wholes)
  test(`a pod that asks as a whole takes ${why}`, () => {
    const asked: object = spec === undefined ? {} : { resources: { requests: { cpu: spec } } };
    const one = pod('web').on('a').cpu('500m').memory('1Gi').spec(asked).build();
    // Of memory, which it does not ask for as a whole, its containers tell.
    const had = has === undefined ? {} : { resources: { requests: { cpu: has, memory: '5Gi' } } };
    Object.assign(one, {
      status: { ...one.status, ...more, ...had, ...(granted !== undefined && { allocatedResources: { cpu: granted } }) },
    });
    const { requests } = podInfoOf(keeper().pod(one));
    assert.equal(requests.cpu, takes);
    assert.equal(requests.scoredCpu, takes);
    assert.equal(requests.memory, 2 ** 30);
  });

test('nobody gets what a pod has not given back, and whoever waits for it gets it then', async (t) => {
  const { world, stage, nodeOf, change } = await scene(t, ['a']);
  const has = (cpu: string) => change('web', { status: { containerStatuses: [statusOf('main', cpu, cpu)] } }, 'status');
  stage.add(pod('web').cpu('1'));
  assert.notEqual(await world.until(() => nodeOf('web') === 'a', 5_000), undefined);
  await has('3');
  await world.clock.advance(1_000);
  stage.add(pod('next').cpu('2'));
  await world.clock.advance(20_000);
  assert.equal(nodeOf('next'), '');
  await has('1');
  assert.notEqual(await world.until(() => nodeOf('next') === 'a', 5_000), undefined);
});

const guessed: { why: string; whole?: object; main?: object; init?: object; overhead?: object; mebibytes: number }[] = [
  { why: 'what is usual, where nobody says', mebibytes: 200 },
  { why: 'what is usual, where the whole speaks of others', whole: { cpu: '2' }, mebibytes: 200 },
  { why: 'nothing more, where one beside says it', whole: { cpu: '2' }, init: { memory: '1Gi' }, mebibytes: 1_024 },
  { why: 'both, where the pod does not ask as a whole', init: { memory: '1Gi' }, mebibytes: 1_224 },
  { why: 'nothing, where one beside says 0', whole: { cpu: '2' }, init: { memory: '0' }, mebibytes: 0 },
  { why: 'what the whole says', whole: { memory: '64Mi' }, mebibytes: 64 },
  { why: 'the overhead, where it is said for that', whole: { cpu: '2' }, overhead: { memory: '32Mi' }, mebibytes: 32 },
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
