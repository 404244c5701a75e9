import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../../../controllers/common/types.ts';
import { pods, statefulSets } from '../../../../kube/api/object.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { setsOf, simWorld, statefulSet, template } from './simulated/world.ts';

test('what fails at each look puts off no pod that waits to be available', async (t) => {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => 500 });
  t.after(() => world.stop());
  world.addNodes('a');
  const about = { method: 'DELETE', path: '/', host: 'test' };
  const no = new ApiError(about, { code: 403, reason: 'Forbidden', message: 'a webhook denied the request' });
  const process = world.start({
    call: (call, pass) => (call.verb === 'delete' && call.resource === 'controllerrevisions' ? Promise.reject(no) : pass()),
  });
  await world.until(() => process.ready, 10_000);
  const minReadySeconds = 1_200;
  world.api.add(statefulSet('web', { replicas: 2, minReadySeconds, revisionHistoryLimit: 0, volumeClaimTemplates: [] }));
  const images = (): (string | undefined)[] =>
    world
      .pods()
      .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
      .map(({ spec }) => spec?.containers[0]?.image);
  const become = async (wanted: string): Promise<number | undefined> =>
    world.until(() => images().join(' ') === wanted, 4 * 3_600_000, 1_000);
  const roll = (image: string): Promise<unknown> =>
    world.user.patch(
      statefulSets,
      { name: 'web', namespace: 'default' },
      { spec: { template: template('web', image) } },
      { type: 'merge' },
    );
  await become('v1 v1');
  for (const [from, to] of [
    ['v1', 'v2'],
    ['v2', 'v3'],
  ] as const) {
    // prettier-ignore
    await world.clock.advance(2 * 3_600_000);
    await roll(to);
    await become(`${from} ${to}`);
    const took = await become(`${to} ${to}`);
    assert.ok(took !== undefined && took < 1_000 * minReadySeconds + 10_000, `${from} to ${to}: web-0 went after ${took} ms`);
  }
  assert.equal((await world.user.list(pods, { namespace: 'default' })).items.length, 2);
});

test('a set whose revision is refused says so once, in the words of the server', async (t) => {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => 500 });
  t.after(() => world.stop());
  const no = new ApiError({ method: 'POST', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'exceeded quota: q' });
  let refused = 0;
  const process = world.start({
    call: (call, pass) =>
      call.verb === 'create' && call.resource === 'controllerrevisions' && ++refused < 9 ? Promise.reject(no) : pass(),
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(statefulSet('web', { replicas: 1, volumeClaimTemplates: [] }));
  await world.until(() => world.pods().length === 1, 60_000);
  const told = (): string[] =>
    world.api.hooks.storage
      .list('/events')
      .objects.filter(({ reason }) => reason === 'FailedSync')
      .map(({ message, count }) => `${String(count)} ${String(message).replace(/web-\w+/, 'web-X')}`);
  await world.until(() => told().length > 0, 60_000);
  assert.deepEqual(told(), ['1 The set is not synced: Cannot create ControllerRevision default/web-X: exceeded quota: q']);
});

const quotas = [
  { what: 'pods', templates: [] },
  { what: 'persistentvolumeclaims', templates: undefined },
];
for (const { what, templates } of quotas)
  test(`a Parallel set whose first ordinal moves under a quota of ${what} as large as itself gets there`, async (t) => {
    const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => 500 });
    t.after(() => world.stop());
    world.addNodes('a');
    const no = new ApiError({ method: 'POST', path: '/', host: 'test' }, { code: 403, reason: 'Forbidden', message: 'exceeded quota: q' });
    const process = world.start({
      call: ({ verb, resource }, pass) => {
        const full = verb === 'create' && resource === what && world.pods().length >= 3;
        return full ? Promise.reject(no) : pass();
      },
    });
    await world.until(() => process.ready, 10_000);
    const claims = templates === undefined ? {} : { volumeClaimTemplates: templates };
    world.api.add(statefulSet('web', { podManagementPolicy: 'Parallel', ...claims }));
    await world.until(() => world.pods().length === 3, 60_000);
    await world.user.patch(statefulSets, { name: 'web', namespace: 'default' }, { spec: { ordinals: { start: 3 } } }, { type: 'merge' });
    const names = (): string =>
      world
        .pods()
        .map(({ metadata }) => metadata.name ?? '')
        .toSorted((a, b) => a.localeCompare(b))
        .join(' ');
    assert.ok((await world.until(() => names() === 'web-3 web-4 web-5', 60_000)) !== undefined, names());
  });

test('a pod whose labels a webhook takes away has those that the set needs back, and is not replaced without end', async (t) => {
  const world = simWorld({ bindMs: () => 0, startMs: () => 500, endMs: () => 500 });
  t.after(() => world.stop());
  world.addNodes('a');
  let made = 0;
  const process = world.start({
    call: async ({ verb, resource, body }, pass) => {
      if (verb === 'create' && resource === 'pods') {
        made += 1;
        (body as Pod).metadata.labels = { by: 'webhook' };
      }
      return pass();
    },
  });
  await world.until(() => process.ready, 10_000);
  world.api.add(statefulSet('web', { volumeClaimTemplates: [] }));
  await world.clock.advance(60_000);
  assert.deepEqual([made, setsOf(world)[0]?.status?.currentReplicas, setsOf(world)[0]?.status?.availableReplicas], [3, 3, 3]);
  assert.deepEqual(
    world.pods().map(({ metadata: { labels } }) => [labels?.['by'], labels?.['app']]),
    Array.from({ length: 3 }, () => ['webhook', 'web']),
  );
});
