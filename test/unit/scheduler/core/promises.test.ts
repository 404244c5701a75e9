import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { coreEvents, type KubeObject, nodes as nodeKind, persistentVolumeClaims, pods as podKind } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { nodeObject } from '../../../support/hollow/hollow-node.ts';
import { reservationHooks } from '../../../../scheduler/reservation/hooks.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { EventHandlers } from '../../../../scheduler/core/event-handlers.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { pod } from '../builders.ts';
import { scene as withOptions, type SceneOptions } from '../simulated/scene.ts';
import type { SchedulerWorld } from '../simulated/world.ts';

/** Longer than any backoff, and much shorter than the flush. */
const SOON = 30_000;
const HOST = 'kubernetes.io/hostname';
const [onA, onB] = [{ [HOST]: 'a' }, { [HOST]: 'b' }];
const gated = { schedulingGates: [{ name: 'wait' }] };
const anything = { operator: 'Exists' };
const scene = (t: TestContext, nodes: readonly string[], options: SceneOptions = {}) => withOptions(t, nodes, { endMs: 5_000, ...options });

test('a node that was promised to a pod which goes elsewhere is there for the others at once', async (t) => {
  const { world, stage, nodeOf, change } = await scene(t, ['a']);
  stage.add(pod('high').cpu('3').priority(10).selects(onB).spec(gated));
  await change('high', { status: { nominatedNodeName: 'a' } }, 'status');
  await world.clock.advance(1_000);
  stage.add(pod('low').cpu('3').selects(onA));
  await world.clock.advance(1_000);
  assert.equal(nodeOf('low'), '', 'the node is promised');
  stage.begin(['b']);
  await world.clock.advance(1_000);
  await change('high', { spec: { schedulingGates: null } });
  assert.notEqual(await world.until(() => nodeOf('high') === 'b', SOON), undefined);
  assert.notEqual(await world.until(() => nodeOf('low') === 'a', SOON), undefined, 'nobody told those who had left it alone');
});

test('so is one promised to a pod that somebody else puts elsewhere', async (t) => {
  const { world, stage, find, nodeOf } = await scene(t, ['a', 'b'], {
    by: {
      // The victim's end takes for ever.
      call: ({ verb, key, signal }, pass) =>
        verb === 'delete' && key === 'default/victim'
          ? new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
          : pass(),
    },
  });
  await world.patchNode('b', { spec: { unschedulable: true } });
  stage.add(pod('victim').cpu('3'));
  await world.until(() => nodeOf('victim') === 'a', SOON);
  stage.add(pod('high').cpu('3').priority(10));
  assert.notEqual(await world.until(() => find('high')?.status?.nominatedNodeName === 'a', SOON, 100), undefined);
  stage.add(pod('low').cpu('1'));
  await world.clock.advance(15_000);
  assert.equal(nodeOf('low'), '', 'the node is promised');
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'high' }, target: { apiVersion: 'v1', kind: 'Node', name: 'b' } };
  await world.user.post(podKind, { namespace: 'default', name: 'high' }, 'binding', binding);
  assert.notEqual(await world.until(() => nodeOf('low') === 'a', SOON), undefined, 'nobody told those who had left it alone');
});

test('so is one promised to a pod that is gone, though it was on its way out for long', async (t) => {
  const { world, stage, find, nodeOf, change } = await scene(t, ['a']);
  stage.add(pod('victim').cpu('4').selects(onA));
  await world.until(() => nodeOf('victim') === 'a', SOON);
  stage.add(pod('high').cpu('3').priority(10));
  await change('high', { metadata: { finalizers: ['test/wait'] } });
  assert.notEqual(await world.until(() => find('high')?.status?.nominatedNodeName === 'a', SOON, 100), undefined);
  await stage.delete('high');
  // Looked at once more, it waits for no place any longer.
  await world.until(() => find('victim') === undefined, SOON);
  stage.add(pod('low').cpu('3'));
  await world.clock.advance(15_000);
  assert.equal(nodeOf('low'), '', 'the node is promised');
  const { items } = await world.user.list<KubeObject>(coreEvents, { namespace: 'default' });
  const skipped = items.find((event) => event['message'] === 'skip schedule deleting pod: default/high');
  assert.equal(skipped?.['action'], 'Scheduling');
  await change('high', { metadata: { finalizers: null } });
  assert.notEqual(await world.until(() => nodeOf('low') === 'a', SOON), undefined, 'nobody told those who had left it alone');
});

test('so is one that nothing can make fit any more, though nobody else heard of the promise', async (t) => {
  const unheard: Interceptor = {
    call: ({ verb, resource, key }, pass) =>
      verb === 'patch' && resource === 'pods/status' && key === 'default/high' ? Promise.reject(new Error('the test says so')) : pass(),
  };
  const { world, stage, nodeOf } = await scene(t, ['a'], { by: unheard, endMs: 3_600_000 });
  stage.add(pod('victim').cpu('3'));
  await world.until(() => nodeOf('victim') === 'a', SOON);
  stage.add(pod('high').cpu('3').priority(10));
  assert.notEqual(await world.until(() => world.parts?.nominator.size === 1, SOON), undefined);
  stage.add(pod('low').cpu('1').memory('1Gi').selects(onA).tolerates(anything));
  await world.clock.advance(15_000);
  assert.equal(nodeOf('low'), '', 'the node is promised');
  await world.patchNode('a', { spec: { unschedulable: true } });
  // It looks again, the other one does not.
  const tooSmall = nodeObject({ name: 'b', allocatable: { memory: '1Mi' } }, '2026-03-01T00:00:00Z');
  world.api.add({ ...tooSmall, spec: { unschedulable: true } });
  assert.notEqual(await world.until(() => world.parts?.nominator.size === 0, SOON), undefined);
  assert.notEqual(await world.until(() => nodeOf('low') === 'a', SOON), undefined, 'nobody told those who had left it alone');
});

const losses: Readonly<Record<string, (world: SchedulerWorld, node: string) => Promise<unknown>>> = {
  'is cordoned': (world, node) => world.patchNode(node, { spec: { unschedulable: true } }),
  'gets a taint': (world, node) => world.patchNode(node, { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
  'loses a label that it asks for': (world, node) => world.patchNode(node, { metadata: { labels: { pool: null } } }),
  'is deleted': (world, node) => world.user.delete(nodeKind, { name: node }),
};
for (const [what, lose] of Object.entries(losses))
  test(`a pod whose promised node ${what} has others go for it elsewhere, before its victims are gone`, async (t) => {
    const { world, stage, find, nodeOf } = await scene(t, ['a', 'b'], { endMs: 3_600_000 });
    for (const name of ['a', 'b']) await world.patchNode(name, { metadata: { labels: { pool: 'x' } } });
    stage.add(pod('low-a').cpu('4').selects(onA), pod('low-b').cpu('4').selects(onB));
    await world.until(() => nodeOf('low-a') === 'a' && nodeOf('low-b') === 'b', SOON);
    stage.add(pod('high').cpu('4').priority(10).selects({ pool: 'x' }));
    const promised = (): string => find('high')?.status?.nominatedNodeName ?? '';
    assert.notEqual(await world.until(() => promised() !== '', SOON, 100), undefined);
    const first = promised();
    await world.clock.advance(15_000);
    await lose(world, first);
    assert.notEqual(
      await world.until(() => !['', first].includes(promised()), SOON, 100),
      undefined,
      'it waits for a node that it cannot have',
    );
  });

test('a pod is not tried for being promised another node, or none any more', async (t) => {
  const { world, stage, change } = await scene(t, ['a'], { endMs: 600_000 });
  stage.add(pod('high').cpu('9'));
  const attempts = (): number | undefined => [...(world.parts?.queue.list() ?? [])][0]?.queued.attempts;
  assert.notEqual(await world.until(() => attempts() === 1, SOON), undefined);
  await change('high', { status: { nominatedNodeName: 'a' } }, 'status');
  await world.clock.advance(15_000);
  await change('high', { status: { nominatedNodeName: null } }, 'status');
  await world.clock.advance(15_000);
  assert.equal(attempts(), 1);
});

test('a pod whose claim is missing is not tried for nodes that come or change, and is for the claim', async (t) => {
  const { world, stage } = await scene(t, ['a'], { endMs: 600_000 });
  stage.add(pod('waits').spec({ volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] }));
  const attempts = (): number | undefined => [...(world.parts?.queue.list() ?? [])][0]?.queued.attempts;
  assert.notEqual(await world.until(() => attempts() === 1, SOON), undefined);
  world.addNodes({ name: 'b' });
  await world.patchNode('a', { metadata: { labels: { pool: 'x' } } });
  await world.clock.advance(15_000);
  assert.equal(attempts(), 1, 'no node has what it lacks');
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' };
  await world.user.create<KubeObject & { spec: object }>(persistentVolumeClaims, {
    metadata: { namespace: 'default', name: 'data' },
    spec,
  });
  assert.notEqual(await world.until(() => attempts() === 2, SOON), undefined);
});

test('a pod whose binding failed is promised nothing any more, and says so', async (t) => {
  let refuses = true;
  const { world, stage, find, nodeOf } = await scene(t, ['a'], {
    by: {
      call({ verb, resource, key }, pass) {
        if (verb !== 'post' || resource !== 'pods/binding' || key !== 'default/high' || !refuses) return pass();
        throw new ApiError(
          { method: 'POST', path: key, host: 'local' },
          { code: 500, reason: 'InternalError', message: 'the test says so' },
        );
      },
    },
  });
  stage.add(pod('victim').cpu('4'));
  await world.until(() => nodeOf('victim') === 'a', SOON);
  stage.add(pod('high').cpu('3').priority(10));
  assert.notEqual(await world.until(() => find('high')?.status?.nominatedNodeName === 'a', SOON, 100), undefined);
  const failed = (): boolean => find('high')?.status?.conditions?.some(({ reason }) => reason === 'SchedulerError') === true;
  assert.notEqual(await world.until(failed, SOON, 100), undefined);
  assert.deepEqual(world.parts?.nominator.size, 0);
  assert.equal(find('high')?.status?.nominatedNodeName, undefined);
  refuses = false;
  assert.notEqual(await world.until(() => nodeOf('high') === 'a', SOON), undefined);
});

test('as long as nobody hears that victims go, nobody else has to', async (t) => {
  const heard = Promise.withResolvers<void>();
  const deleted: string[] = [];
  const { world, stage, nodeOf } = await scene(t, ['a', 'b', 'c'], {
    endMs: 20,
    by: {
      call({ verb, resource, key }, pass) {
        if (verb === 'delete' && resource === 'pods') deleted.push(key);
        return pass();
      },
      async *watch({ resource }, pass) {
        for await (const event of pass()) {
          if (resource === 'pods' && event.object.metadata.name?.startsWith('low') === true && deleted.length > 0) await heard.promise;
          yield event;
        }
      },
    },
  });
  const lows = ['low-0', 'low-1', 'low-2'];
  stage.add(...lows.map((name) => pod(name).cpu('4')));
  assert.notEqual(await world.until(() => lows.every((name) => nodeOf(name) !== ''), SOON), undefined);
  stage.add(pod('high').cpu('4').priority(10));
  const waits = (attempts: number): boolean => {
    const { queued, pool, held } = [...(world.parts?.queue.list() ?? [])].find((one) => one.queued.info.name === 'high') ?? {};
    return queued?.attempts === attempts && pool === 'unschedulable' && held === false;
  };
  // Its own preemption does not have it tried again, a node does.
  assert.notEqual(await world.until(() => deleted.length > 0 && waits(1), SOON), undefined);
  world.addNodes({ name: 'd', taints: [{ key: 'd', effect: 'NoSchedule' }] });
  assert.notEqual(await world.until(() => waits(2), SOON), undefined);
  assert.equal(deleted.length, 1);
  heard.resolve();
  assert.notEqual(await world.until(() => nodeOf('high') !== '', SOON), undefined);
  assert.equal(deleted.length, 1);
});

test('room is not kept any longer for a successor that is gone, though it was on its way out for long', async (t) => {
  const { world, stage, find, nodeOf, change } = await scene(t, ['a']);
  stage.addSet('web', '4', { replicas: 1 });
  await world.until(() => nodeOf('web-0') === 'a', SOON);
  await stage.roll('web', { image: 'v2', resources: { requests: { cpu: '5' } } });
  const claimed = (): boolean => world.parts?.reservations.list()[0]?.failedAt !== undefined;
  assert.notEqual(await world.until(claimed, SOON), undefined);
  const stopped = world.stopControllers();
  await world.clock.advance(30_000);
  await stopped;
  await change('web-0', { metadata: { finalizers: ['test/wait'] } });
  await stage.delete('web-0');
  // It would fit: so it is looked at, and let go.
  stage.begin(['b']);
  world.addNodes({ name: 'c', allocatable: { cpu: '8' } });
  assert.notEqual(await world.until(() => world.parts?.queue.find(find('web-0')?.metadata.uid ?? '') === undefined, SOON), undefined);
  await change('web-0', { metadata: { finalizers: null } });
  await world.clock.advance(1_000);
  const [room] = world.parts?.reservations.list() ?? [];
  assert.deepEqual([room?.state, room?.claimant], ['active', undefined]);
  assert.ok((room?.expiresAt ?? 0) <= world.clock.now() + 60_000, 'as long as room without a successor');
});

test('a node is not filled twice by a binding that was given up and comes later: its room is promised to the pod meanwhile', async (t) => {
  let lost = 0;
  const late: Interceptor = {
    call({ verb, resource, key }, pass) {
      if (verb !== 'post' || resource !== 'pods/binding' || key !== 'default/first' || ++lost > 1) return pass();
      void clock()
        .sleep(700)
        .then(pass, () => {});
      throw new TransportError({ method: 'POST', path: key, host: 'local' }, 'timeout', { hint: 'the test says so' });
    },
  };
  const { world, stage, nodeOf } = await scene(t, ['a'], { by: late });
  const clock = () => world.clock;
  stage.add(pod('first').cpu('3'));
  await world.until(() => lost === 1, SOON, 10);
  assert.equal(nodeOf('first'), '');
  stage.add(pod('second').cpu('3'));
  await world.until(() => nodeOf('first') === 'a', SOON, 10);
  await world.clock.advance(15_000);
  assert.deepEqual([nodeOf('first'), nodeOf('second'), world.parts?.nominator.size], ['a', '', 0]);
});

test('a victim that went before its end was decided over is not remembered', async (t) => {
  const { world } = await scene(t, ['a']);
  const { parts: state } = world;
  assert.ok(state !== undefined);
  const gone = podInfoOf(pod('gone').on('a').build());
  const there = podInfoOf(pod('there').on('a').build());
  state.addAssigned(there);
  const preemptor = podInfoOf(pod('high').priority(10).build());
  state.addPending(preemptor);
  const queued = state.pop();
  assert.equal(queued?.info, preemptor);
  const chosen = { node: 'a', victims: [gone, there], violations: 0 };
  state.unschedulable(queued, preemptor, { why: 'refused', by: new Set(['NodeResourcesFit']) }, { chosen, keepsNomination: false });
  assert.deepEqual([...state.victims], [there.uid]);
});

test('room is kept for a pod of a rolling set whose binding was never seen before it was gone, as across a relist', async (t) => {
  const { world, stage, nodeOf } = await scene(t, ['a']);
  stage.addSet('web', '4', { replicas: 1 });
  await world.until(() => nodeOf('web-0') === 'a', SOON);
  const { parts } = world;
  const placed = [...(parts?.cluster.placedPods() ?? [])].find(({ info }) => info.name === 'web-0');
  assert.ok(parts !== undefined && placed !== undefined);
  const { nodeName: _, ...spec } = placed.info.pod.spec ?? { containers: [] };
  const unbound = podInfoOf({
    ...placed.info.pod,
    metadata: { ...placed.info.pod.metadata, labels: { 'controller-revision-hash': 'old' } },
    spec,
  });
  parts.ignorePod(placed.info.uid);
  const assumed = parts.assume(unbound, 'a');
  parts.bound(unbound.uid);
  const nothing = { event() {}, ended() {}, get: () => assert.fail('nobody asks') };
  const hooks = reservationHooks({
    state: parts,
    reservations: parts.reservations,
    placeholders: undefined,
    onSets: undefined,
    client: nothing,
    events: () => nothing,
    meters: nothing,
    log: recordedLog().log,
  });
  new EventHandlers(parts, { hooks, notify() {}, onNote() {}, onBroken() {} }).podDeleted(unbound, true);
  assert.equal(assumed.forgotten.aborted, false, 'its binding is over');
  assert.deepEqual(
    parts.reservations.list().map(({ name, node }) => [name, node]),
    [['web-0', 'a']],
  );
});

test('a pod that is deleted while it is bound gives its place to the next at once, whatever becomes of the binding', async (t) => {
  const { world, stage, nodeOf, change } = await scene(t, ['a'], {
    by: {
      // It takes half a minute.
      call: ({ verb, resource, key }, pass) =>
        `${verb} ${resource} ${key}` === 'post pods/binding default/big' ? world.clock.sleep(SOON).then(pass) : pass(),
    },
  });
  stage.add(pod('big').cpu('4'));
  await change('big', { metadata: { finalizers: ['test/wait'] } });
  await world.clock.advance(2_000);
  stage.add(pod('next').cpu('4'));
  await world.clock.advance(2_000);
  assert.equal(nodeOf('next'), '', 'there is no room beside a pod that is being bound');
  await stage.delete('big');
  assert.notEqual(await world.until(() => nodeOf('next') === 'a', 5_000), undefined);
  await world.clock.advance(SOON);
});

const denials: { why: string; of: readonly string[]; isDone?: true }[] = [
  { why: 'its binding', of: ['pods/binding'] },
  { why: 'its binding, and when it is looked for', of: ['pods/binding', 'pods'] },
  { why: 'a binding that was done', of: ['pods/binding'], isDone: true },
];
for (const { why, of, isDone } of denials)
  test(`a pod that somebody between denies once, at ${why}, has its place all the same`, async (t) => {
    const denied = new Set<string>();
    const { world, stage, nodeOf } = await scene(t, ['a'], {
      by: {
        async call({ verb, resource, key }, pass) {
          if (!['post', 'get'].includes(verb) || !of.includes(resource) || key !== 'default/first' || denied.has(resource)) return pass();
          denied.add(resource);
          if (isDone) await pass();
          throw new ApiError({ method: verb, path: key, host: 'local' }, { code: 404, reason: '', message: '404 page not found' });
        },
      },
    });
    stage.add(pod('first').cpu('3'));
    assert.notEqual(await world.until(() => nodeOf('first') === 'a', SOON), undefined, 'it was forgotten');
    await world.clock.advance(SOON);
    assert.deepEqual([...denied], of);
    stage.add(pod('second').cpu('2'));
    await world.clock.advance(SOON);
    assert.deepEqual([nodeOf('second'), world.parts?.nominator.size], ['', 0], 'the first counts where it is');
  });
