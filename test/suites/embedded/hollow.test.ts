import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { nodes as nodeResource, pods as podResource } from '../../../kube/api/resources.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import { started } from '../../unit/apiserver/started.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { behaviourOf, statusFor } from '../../support/hollow/behaviour.ts';
import type { Pod } from '../../support/hollow/behaviour.ts';
import { hollowNodes } from '../../support/hollow/hollow-node.ts';
import { behave, HollowNodes } from '../../support/hollow/hollow-nodes.ts';
import type { HollowOptions } from '../../support/hollow/hollow-nodes.ts';
import { nextStep, pinnedTo } from '../../support/hollow/next.ts';

const at = '2026-01-01T00:00:00Z';

const podOn = (nodeName: string | undefined, over: { pinned?: string; image?: string; says?: string; deleted?: boolean } = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    ...(over.says === undefined ? {} : (behave(over.says).metadata as { annotations: Record<string, string> })),
    ...(over.deleted === true ? { deletionTimestamp: at } : {}),
  },
  spec: {
    containers: [{ name: 'main', image: over.image ?? 'any' }],
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(over.pinned === undefined ? {} : { affinity: pinned(over.pinned) }),
  },
});

const pinned = (name: string) => ({
  nodeAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: {
      nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
    },
  },
});

const here = { node: { metadata: { name: 'a' } } };
const dead = { node: { metadata: { name: 'a', annotations: behave('dead').metadata.annotations as Record<string, string> } } };
const steps = [
  { why: 'reports a pod that is bound to it', pod: podOn('a'), home: here, step: 'report' },
  { why: 'finishes a deletion', pod: podOn('a', { deleted: true }), home: here, step: 'remove' },
  { why: 'leaves the pods of others alone', pod: podOn('b', { deleted: true }), home: 'foreign' as const, step: 'nothing' },
  { why: 'takes the pods of a lost node along', pod: podOn('a'), home: 'lost' as const, step: 'remove' },
  { why: 'does nothing once it is dead', pod: podOn('a', { deleted: true }), home: dead, step: 'nothing' },
  { why: 'binds what is pinned to it', pod: podOn(undefined, { pinned: 'a' }), home: here, step: 'bind' },
  { why: 'binds nothing to a node that is not there', pod: podOn(undefined, { pinned: 'a' }), home: 'lost' as const, step: 'nothing' },
  { why: 'binds nothing that ends', pod: podOn(undefined, { pinned: 'a', deleted: true }), home: here, step: 'nothing' },
  { why: 'binds nothing that may go anywhere', pod: podOn(undefined), home: here, step: 'nothing' },
];
for (const { why, pod, home, step } of steps) test(`a hollow node ${why}`, () => assert.equal(nextStep(pod, home, true).do, step));

test('a hollow node leaves binding to the scheduler unless told otherwise', () => {
  assert.equal(nextStep(podOn(undefined, { pinned: 'a' }), here, false).do, 'nothing');
  assert.equal(pinnedTo(podOn(undefined, { pinned: 'a' })), 'a');
});

const behaviours = [
  { says: undefined, image: 'nginx:1', is: 'ready' },
  { says: undefined, image: 'hollow/unready:2', is: 'unready' },
  { says: 'crash', image: 'hollow/unready:2', is: 'crash' },
  { says: 'nonsense', image: 'hollow/nonsense', is: 'ready' },
];
for (const { says, image, is } of behaviours) {
  const annotated = podOn('a', { image, ...(says === undefined ? {} : { says }) });
  test(`a pod of ${image} that says ${says} is ${is}`, () => assert.equal(behaviourOf(annotated).is, is));
}

test('a status is reported once, and the end of a pod is final', () => {
  const pod = podOn('a');
  const first = statusFor(pod, { is: 'ready' }, at);
  assert.equal(first?.phase, 'Running');
  const running = { ...pod, status: first ?? {} };
  assert.equal(statusFor(running, { is: 'ready' }, at), undefined);
  const unready = statusFor(running, { is: 'unready' }, '2026-01-01T00:01:00Z');
  const changed = unready?.conditions?.filter(({ lastTransitionTime }) => lastTransitionTime !== at).map(({ type }) => type);
  assert.deepEqual(changed, ['Ready', 'ContainersReady']);
  const failed = { ...pod, status: statusFor(running, { is: 'failed', reason: 'Evicted' }, at) ?? {} };
  assert.equal(failed.status.reason, 'Evicted');
  assert.equal(statusFor(failed, { is: 'ready' }, at), undefined);
});

async function fleetOn(t: TestContext, options: Partial<HollowOptions> = {}) {
  const { server } = await started();
  const client = createClient({ origin: 'the test', server: server.url, ca: { data: server.caPem }, token: server.token });
  const { log, lines } = recordedLog();
  const fleet = new HollowNodes({ client, clock: realClock, log, binds: true, workers: 8, ...options });
  const ending = new AbortController();
  const running = fleet.run(ending.signal);
  t.after(async () => {
    ending.abort();
    await running;
    await client.close();
    await server.stop();
  });
  await fleet.add(hollowNodes(3, 'n', { labels: { tier: 'web' } }));
  return { client, fleet, lines };
}

test('pods start, fail and go as they are told, and with their nodes', async (t) => {
  const { client, fleet, lines } = await fleetOn(t);
  const make = (name: string, node: string, image = 'any') => {
    const metadata = { name, namespace: 'default' };
    return client.create(podResource, { ...podOn(undefined, { pinned: node, image }), metadata });
  };
  const get = (name: string): Promise<Pod | undefined> =>
    client.get<Pod>(podResource, { name, namespace: 'default' }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
  const becomes = (name: string, what: string) =>
    eventually(`${name} is ${what}`, async () => {
      const pod = await get(name);
      const ready = pod?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      const seen = pod === undefined ? 'gone' : `${pod.spec?.nodeName} ${pod.status?.phase} ${ready ?? 'Unknown'}`;
      return seen === what ? true : undefined;
    });
  await Promise.all([make('p', 'n-0'), make('q', 'n-1', 'hollow/unready'), make('r', 'n-2')]);
  await Promise.all([becomes('p', 'n-0 Running True'), becomes('q', 'n-1 Running False'), becomes('r', 'n-2 Running True')]);

  await client.patch(podResource, { name: 'p', namespace: 'default' }, behave('failed:Evicted'), { type: 'merge' });
  await becomes('p', 'n-0 Failed False');
  await client.patch(nodeResource, { name: 'n-1' }, behave('dead'), { type: 'merge' });
  await client.delete(podResource, { name: 'r', namespace: 'default' });
  await becomes('r', 'gone');
  await client.delete(podResource, { name: 'q', namespace: 'default' });
  assert.notEqual(await get('q'), undefined, 'nobody is there to end it');
  await client.patch(nodeResource, { name: 'n-1' }, behave(undefined), { type: 'merge' });
  await becomes('q', 'gone');
  await fleet.remove(['n-0', 'n-7']);
  await becomes('p', 'gone');
  assert.deepEqual(
    lines.filter((line) => line.startsWith('warn') || line.startsWith('error')),
    [],
  );
});

test('a start takes as long as it is told', async (t) => {
  const { client } = await fleetOn(t, { startMs: 300 });
  const from = performance.now();
  await client.create(podResource, podOn(undefined, { pinned: 'n-0' }));
  await eventually('it runs', async () => {
    const pod = await client.get<Pod>(podResource, { name: 'p', namespace: 'default' });
    return pod.status?.phase === 'Running' ? true : undefined;
  });
  assert.ok(performance.now() - from >= 300);
});
