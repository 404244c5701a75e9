import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { daemonSets, nodes as nodeKind } from '../../../../kube/api/object.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { Cluster } from '../../../../scheduler/cache/cluster.ts';
import type { SchedulingQueue } from '../../../../scheduler/queue/contract.ts';
import { EventHandlers } from '../../../../scheduler/core/event-handlers.ts';
import { noHooks } from '../../../../scheduler/core/hooks.ts';
import { podInfoOf, type PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';
import { Binder } from '../../../../scheduler/core/binding-cycle.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { Interceptor, SeenCall } from '../../../support/simulated/intercepted.ts';
import { pod } from '../builders.ts';
import { scene as withOptions, type SceneOptions } from '../simulated/scene.ts';
import type { SchedulerWorld } from '../simulated/world.ts';

/** Longer than any backoff, and much shorter than the flush. */
const SOON = 30_000;
const HOST = 'kubernetes.io/hostname';
const [onA, onB] = [{ [HOST]: 'a' }, { [HOST]: 'b' }];
const gated = { schedulingGates: [{ name: 'wait' }] };

const scene = (t: TestContext, nodes: readonly string[], options: SceneOptions = {}) => withOptions(t, nodes, { endMs: 5_000, ...options });

test('when a nominated pod is assigned to another node, pods that left it the capacity are requeued at once', async (t) => {
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

const losses: Readonly<Record<string, (world: SchedulerWorld, node: string) => Promise<unknown>>> = {
  'is cordoned': (world, node) => world.patchNode(node, { spec: { unschedulable: true } }),
  'is deleted': (world, node) => world.user.delete(nodeKind, { name: node }),
};
for (const [what, lose] of Object.entries(losses))
  test(`a pod whose nominated node ${what} preempts pods elsewhere, before its victims are deleted`, async (t) => {
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
    const moved = await world.until(() => !['', first].includes(promised()), SOON, 100);
    assert.notEqual(moved, undefined, 'it waits for a node that it cannot have');
  });

test('a Binding without an answer may take effect later: until then the pod is nominated for the node', async (t) => {
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

test('a pod that is deleted while it is being bound frees its capacity at once, whatever becomes of the Binding', async (t) => {
  const ofBig = ({ verb, resource, key }: SeenCall) => `${verb} ${resource} ${key}` === 'post pods/binding default/big';
  const call: Interceptor['call'] = (seen, pass) => (ofBig(seen) ? world.clock.sleep(SOON).then(pass) : pass());
  const { world, stage, nodeOf, change } = await scene(t, ['a'], { by: { call } });
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

test('a terminating pod without a node is not scheduled, and an event says so', async (t) => {
  const { world, stage, change, events } = await scene(t, ['a']);
  stage.add(pod('full').cpu('4'));
  await world.clock.advance(2_000);
  stage.add(pod('waits').cpu('3'));
  await change('waits', { metadata: { finalizers: ['test/wait'] } });
  await world.clock.advance(2_000);
  await stage.delete('waits');
  await stage.delete('full');
  await world.clock.advance(15_000);
  assert.ok((await events('waits')).some(({ message }) => message === 'skip schedule deleting pod: default/waits'));
});

test('a bound pod that a relist no longer has counts as deleted from its node', async (t) => {
  const { world } = await scene(t, ['a']);
  const state = world.parts ?? assert.fail();
  const gone: string[] = [];
  const hooks = { ...noHooks, onAssignedPodDeleted: ({ nodeName }: PodInfo) => (gone.push(nodeName), -Infinity) };
  const web = podInfoOf(pod('web').build());
  state.assume(web, 'a');
  state.bound(web.uid);
  new EventHandlers(state, { hooks, notify() {}, onNote() {}, onBroken() {} }).podDeleted(web, true);
  assert.deepEqual(gone, ['a']);
});

test('a preemptor is held, its former nomination is free for other pods, and victims that are deleted already are not remembered', async (t) => {
  const { parts: state = assert.fail() } = (await scene(t, ['a'])).world;
  const [gone, there] = ['gone', 'there'].map((name) => podInfoOf(pod(name).on('a').build())) as [PodInfo, PodInfo];
  state.addAssigned(there);
  const low = podInfoOf(pod('low').cpu('1').build());
  const high = podInfoOf(pod('high').cpu('1').priority(10).status({ nominatedNodeName: 'b' }).build());
  const refusal = { why: 'refused', by: new Set<'NodeResourcesFit'>(['NodeResourcesFit']), short: new Set(['cpu']) } as const;
  const refuse = (info: PodInfo, chosen?: { node: string; victims: PodInfo[]; violations: number }) => {
    state.pending.add(info);
    state.pending.unschedulable(state.pending.pop() ?? assert.fail(), info, refusal, { chosen, keepsNomination: false });
  };
  refuse(low);
  refuse(high, { node: 'a', victims: [gone, there], violations: 0 });
  assert.deepEqual([...state.victims], [there.uid]);
  assert.deepEqual([state.queue.find(high.uid)?.held, state.queue.find(low.uid)?.pool], [true, 'backoff']);
});

test('a pod that counts on a node is not scheduled again, though it is in the queue', async (t) => {
  const { world, stage } = await scene(t, ['a']);
  stage.add(pod('large').cpu('9'));
  await world.clock.advance(2_000);
  const { queue, cluster } = world.parts as unknown as { queue: SchedulingQueue; cluster: Cluster };
  const [{ queued } = assert.fail()] = queue.list();
  cluster.assume(queued.info, 'a');
  queue.activate(queued.info.uid);
  await world.clock.advance(SOON);
  assert.deepEqual([...queue.list()], []);
});

test('a pod is bound although a proxy answered its Binding with 404', async (t) => {
  let tried = 0;
  const call: Interceptor['call'] = async ({ verb, resource, key }, pass) => {
    if (resource !== 'pods/binding' || key !== 'default/first' || ++tried > 1) return pass();
    await pass();
    throw new ApiError({ method: verb, path: key, host: 'local' }, { code: 404, reason: '', message: '404 page not found' });
  };
  const { world, stage, nodeOf } = await scene(t, ['a'], { by: { call } });
  stage.add(pod('first').cpu('3'));
  assert.notEqual(await world.until(() => nodeOf('first') === 'a', SOON), undefined, 'it was forgotten');
  await world.clock.advance(SOON);
  assert.ok(tried > 0);
  stage.add(pod('second').cpu('2'));
  await world.clock.advance(SOON);
  assert.deepEqual([nodeOf('second'), world.parts?.nominator.size], ['', 0], 'the first counts where it is');
});

test('the capacity of a pod of a rolling DaemonSet is reserved for its successor on that node', async (t) => {
  const reservation = { ...defaultSchedulerConfig.reservation, daemonSets: true };
  const { world, stage, nodeOf } = await scene(t, ['a', 'b'], { endMs: 1_000, config: { reservation } });
  stage.addDaemons('agent', '3', { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } });
  await stage.pass(3_000);
  for (const name of ['p', 'q', 'r', 's']) stage.add(pod(name).cpu('1'));
  await stage.pass(5_000);
  const placed = () => ['p', 'q', 'r', 's'].filter((name) => nodeOf(name) !== '');
  assert.equal(placed().length, 2);
  const before = placed();
  await stage.roll('agent', { image: 'v2', resources: { requests: { cpu: '3' } } }, daemonSets);
  await stage.pass(SOON);
  const agents = world.pods().filter(({ metadata }) => metadata.name?.startsWith('agent-'));
  assert.deepEqual(agents.map(({ spec }) => `${spec?.containers[0]?.image} ${spec?.nodeName}`).toSorted(), ['v2 a', 'v2 b']); // prettier-ignore
  assert.deepEqual([placed(), stage.problems()], [before, []]);
});

test('no more Bindings than maxInflightBinds are in flight, and the next pod follows as soon as one is bound', async (t) => {
  let [open, most] = [0, 0];
  const api = { ...defaultSchedulerConfig.api, maxInflightBinds: 2 };
  const call: Interceptor['call'] = async ({ resource }, pass) => {
    if (resource !== 'pods/binding') return pass();
    most = Math.max(most, ++open);
    await world.clock.sleep(1_000);
    open -= 1;
    return pass();
  };
  const { world, stage, nodeOf } = await scene(t, ['a', 'b'], { config: { api }, by: { call } });
  const names = ['p', 'q', 'r', 's', 't'];
  stage.add(...names.map((name) => pod(name).cpu('1')));
  await stage.pass(5_000);
  assert.deepEqual([most, names.filter((name) => nodeOf(name) === '')], [2, []]);
});

test('after failed Bindings it is logged once that pods cannot be read, and once that they can again', async () => {
  const clock = new FakeClock();
  const { log, lines } = recordedLog();
  const away = () =>
    Promise.reject(new TransportError({ method: 'GET', path: '/', host: 'local' }, 'timeout', { hint: 'the test says so' }));
  let tries = 0;
  const get = () => (++tries > 8 ? Promise.resolve(pod('web').uid('u').on('a').build()) : away());
  const binder = new Binder({ client: { post: away, get } as unknown as ConstructorParameters<typeof Binder>[0]['client'], clock, random: () => 0.5, log }); // prettier-ignore
  const bound = ['one', 'two'].map(() => binder.bind(podInfoOf(pod('web').uid('u').build()), 'a', new AbortController().signal));
  for (let n = 0; n < 10; n++) await clock.advance(5_000);
  assert.deepEqual((await Promise.all(bound)).map(({ is }) => is), ['bound', 'bound']); // prettier-ignore
  assert.deepEqual(lines.map((line) => line.split(':')[0]), ['warn', 'info']); // prettier-ignore
});
