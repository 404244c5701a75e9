import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pods as podKind } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';

import { MAX_TERMS } from '../../../../scheduler/pod/pod-limits.ts';
import { pod } from '../builders.ts';
import { scene } from '../simulated/scene.ts';

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
  assert.deepEqual(attempts.map(([key, count]) => `${key.split(' ').at(-1)} ${count}`).toSorted(), [
    'error 2',
    'scheduled 1',
    'unschedulable 1',
  ]);
});

const TERMS = MAX_TERMS + 50;
const WHY = `pod has ${TERMS} terms of pod affinity and anti-affinity, more than the ${MAX_TERMS} that this scheduler supports.`;
const terms = Array.from({ length: TERMS }, (_, at) => ({
  weight: 1,
  podAffinityTerm: { topologyKey: HOST, labelSelector: { matchLabels: { app: `a${at}` } } },
}));
const tooLarge = (name: string) => pod(name).affinity({ podAffinity: { preferredDuringSchedulingIgnoredDuringExecution: terms } });

test('a pod that asks for too much is told so, once, and the others are placed', async (t) => {
  const { world, stage, find, nodeOf } = await scene(t, ['a', 'b']);
  stage.add(tooLarge('large'), pod('small').cpu('1'));
  await stage.pass(5_000);
  assert.notEqual(nodeOf('small'), '');
  const { metadata, status } = find('large') ?? assert.fail();
  const condition = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  assert.equal(condition?.reason, 'Unschedulable');
  assert.ok(condition?.message?.startsWith(`0/2 nodes are available: ${WHY}`), condition?.message);
  const attempts = (): number | undefined => world.parts?.queue.find(metadata.uid ?? '')?.queued.attempts;
  assert.deepEqual([...(world.parts?.queue.find(metadata.uid ?? '')?.queued.rejectedBy ?? [])], ['PodLimits']);
  const before = attempts();
  stage.add(pod('another').cpu('1'));
  await world.user.delete(podKind, { namespace: 'default', name: 'small' });
  await stage.pass(60_000);
  assert.equal(attempts(), before);
});
