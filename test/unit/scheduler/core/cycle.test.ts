import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostname } from 'node:os';
import { pods as podKind } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { MAX_TERMS } from '../../../../scheduler/pod/pod-limits.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';
import type { Millis } from '../../../../base/clock.ts';
import { defaultSchedulerConfig } from '../../../../scheduler/config/config.ts';

const SOON = 30_000;
const HOST = 'kubernetes.io/hostname';

test('a pod that was bound and is not seen is asked for, also when nothing else happens', async (t) => {
  let answers = 0;
  const asked: number[] = [];
  const { world, stage, nodeOf } = await scene(t, ['a'], {
    by: {
      call({ verb, resource, key }, pass) {
        if (verb === 'get' && key === 'default/web') asked.push(answers);
        // Somebody on the way says yes for the server, which never hears of it.
        return verb === 'post' && resource === 'pods/binding' && ++answers === 1 ? Promise.resolve({}) : pass();
      },
    },
  });
  stage.add(pod('web'));
  await world.clock.advance(59_000);
  assert.deepEqual(asked, []);
  await world.clock.advance(30_000);
  assert.equal(asked.length, 1);
  assert.equal(nodeOf('web'), 'a');
  assert.equal(answers, 2);
  await world.clock.advance(600_000);
  assert.equal(asked.length, 1, 'it is seen');
});

test('an attempt counts for its profile, as scheduled once the pod is bound, and as an error where it cannot be', async (t) => {
  let refusals = 2;
  const answer = { code: 403, reason: 'Forbidden', message: 'no binding today' };
  const forbidden = (): Promise<never> => Promise.reject(new ApiError({ method: 'POST', path: '/pods', host: 'local' }, answer));
  const { world, stage, nodeOf } = await scene(t, ['a'], {
    by: { call: ({ resource }, pass) => (resource === 'pods/binding' && refusals-- > 0 ? forbidden() : pass()) },
  });
  stage.add(pod('web').cpu('1'), pod('picky').selects({ x: 'y' }));
  await world.until(() => nodeOf('web') === 'a', SOON);
  await world.clock.advance(1_000);
  const attempts = Object.entries(world.counted).filter(([key]) => key.startsWith('scheduler_schedule_attempts_total default-scheduler '));
  const counts = attempts.map(([key, count]) => `${key.split(' ').at(-1)} ${count}`).toSorted();
  assert.deepEqual(counts, ['error 2', 'scheduled 1', 'unschedulable 1']);
});

const TERMS = MAX_TERMS + 50;
const WHY = `pod has ${TERMS} terms of pod affinity and anti-affinity, more than the ${MAX_TERMS} that this scheduler supports.`;
const terms = Array.from({ length: TERMS }, (_, at) => ({
  weight: 1,
  podAffinityTerm: { topologyKey: HOST, labelSelector: { matchLabels: { app: `a${at}` } } },
}));
const tooLarge = (name: string) => pod(name).affinity({ podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } });

test('a pod that asks for too much is told so, once, and the others are placed', async (t) => {
  const { world, stage, find, nodeOf, condition } = await scene(t, ['a', 'b']);
  stage.add(tooLarge('large'), pod('small').cpu('1'));
  await stage.pass(5_000);
  assert.notEqual(nodeOf('small'), '');
  const { reason, message = '' } = condition('large') ?? assert.fail();
  assert.equal(reason, 'Unschedulable');
  assert.ok(message.startsWith(`0/2 nodes are available: ${WHY}`), message);
  const queued = () => world.parts?.queue.find(find('large')?.metadata.uid ?? '')?.queued;
  const attempts = (): number | undefined => queued()?.attempts;
  assert.deepEqual([...(queued()?.rejectedBy ?? [])], ['PodLimits']);
  const before = attempts();
  stage.add(pod('another').cpu('1'));
  await world.user.delete(podKind, { namespace: 'default', name: 'small' });
  await stage.pass(60_000);
  assert.equal(attempts(), before);
});

const HOUR: Millis = 3_600_000;

for (const by of [-HOUR, HOUR])
  test(`when the clock is set by ${by / HOUR} h, a reservation lasts as long as otherwise, and its times are shown by the clock as it is`, async (t) => {
    const { world, stage, nodeOf } = await scene(t, ['a'], { endMs: 1_000 });
    stage.addSet('web', '4', { replicas: 1 });
    await world.until(() => nodeOf('web-0') === 'a', 5_000);
    const stopped = world.stopControllers();
    await world.clock.advance(30_000);
    await stopped;
    stage.add(pod('other').cpu('4'));
    await stage.roll('web', { image: 'v2' });
    await stage.delete('web-0');
    await world.clock.advance(2_000);
    const reservations = (): number => world.parts?.reservations.size ?? 0;
    assert.equal(reservations(), 1);
    const made = world.parts?.reservations.list()[0]?.expiresAt ?? 0;
    assert.equal(world.parts?.shown(made), made);
    world.clock.jump(by);
    assert.equal(world.parts?.shown(made), made + by);
    await world.clock.advance(50_000);
    assert.equal(reservations(), 1);
    await world.clock.advance(15_000);
    assert.equal(reservations(), 0);
    await world.clock.advance(15_000);
    assert.equal(nodeOf('other'), 'a');
  });

test('the profile that places a pod reports its events, also those of pods that it preempts', async (t) => {
  const [profile = assert.fail()] = defaultSchedulerConfig.profiles.values();
  const profiles = new Map(['default-scheduler', 'batch'].map((name) => [name, profile]));
  const { stage, events } = await scene(t, ['a'], { config: { profiles }, endMs: HOUR });
  stage.add(pod('low').cpu('3'));
  await stage.pass(2_000);
  stage.add(pod('high').cpu('2').priority(10).spec({ schedulerName: 'batch' }));
  await stage.pass(5_000);
  const reporters = async (name: string) =>
    (await events(name)).map((one) => [one.reason, one.source?.component, one.reportingComponent, one.reportingInstance].join(' '));
  const by = (reason: string, who: string) => `${reason} ${who} ${who} ${who}-${hostname()}`;
  assert.deepEqual(await reporters('low'), [by('Scheduled', 'default-scheduler'), by('Preempted', 'batch')]);
  assert.deepEqual(await reporters('high'), [by('FailedScheduling', 'batch')]);
});

test('a pod that fits nowhere waits, its status says why, and it gets the capacity of a deleted pod; pods of other schedulers count too', async (t) => {
  const { world, stage, nodeOf, condition, events } = await scene(t, []);
  stage.begin(['a', { name: 'b', allocatable: { cpu: '1', memory: '1Mi' } }]);
  stage.add(pod('foreign').cpu('3').memory('1Gi').spec({ schedulerName: 'another' }));
  await stage.pass(1_000);
  assert.equal(nodeOf('foreign'), '');
  const ref = { namespace: 'default', name: 'foreign' };
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: ref, target: { apiVersion: 'v1', kind: 'Node', name: 'a' } };
  await world.user.post(podKind, ref, 'binding', binding);
  await stage.pass(1_000);
  stage.add(pod('ours').cpu('2').memory('2Mi'));
  await stage.pass(3_000);
  const why =
    '0/2 nodes are available: 1 Insufficient memory, 2 Insufficient cpu. preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling.';
  assert.deepEqual([condition('ours')?.reason, condition('ours')?.message], ['Unschedulable', why]);
  await stage.delete('foreign');
  await stage.pass(10_000);
  assert.deepEqual([nodeOf('ours'), condition('ours')?.status], ['a', 'True']);
  const told = (await events('ours')).map(({ type, reason, message }) => [type, reason, message].join(' '));
  assert.deepEqual(told, [`Warning FailedScheduling ${why}`, 'Normal Scheduled Successfully assigned default/ours to a']);
});
