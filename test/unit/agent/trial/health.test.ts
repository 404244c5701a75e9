import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeHealth } from '../../../../agent/trial/health.ts';
import { silentLog } from '../../../../base/log.ts';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

type Asked = { kind: string; query: Record<string, unknown> };

/** A node on trial since now, with an API server that is `answer`. */
function standing(answer: (asked: Asked, now: number) => KubeObject[], trialHealth?: 'node' | 'kubelet') {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  const items = (resource: Resource, query: object): KubeObject[] => {
    const one = { kind: resource.kind, query: { ...query } };
    asked.push(one);
    return answer(one, clock.now());
  };
  const client = {
    list: async (resource: Resource, query = {}) => ({ metadata: { resourceVersion: '1' }, items: items(resource, query) }),
    listEach: async (resource: Resource, query: object, each: (item: KubeObject) => void) => {
      for (const item of items(resource, query)) each(item);
      return { resourceVersion: '1', continue: 'more' };
    },
    get: async (resource: Resource, ref: object) => items(resource, ref)[0],
  };
  const options = { nodeName: 'node-a', kubeletExits: '/run/dkc/kubelet-exits', trialDuration: 600_000, unhealthyDeadline: 120_000, ...(trialHealth ? { trialHealth } : {}) }; // prettier-ignore
  const health = new NodeHealth({ options, disk: { stat: async () => undefined }, clock, log: silentLog });
  health.follow(clock.now());
  const stop = new AbortController();
  const running = health.run(client as unknown as Parameters<NodeHealth['run']>[0], stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await clock.advance(0);
    assert.equal(clock.sleepers, 0);
  };
  return { clock, health, asked, end };
}

const node = (status: 'True' | 'False', at: number): KubeObject => {
  const time = new Date(at).toISOString();
  return {
    metadata: { name: 'node-a' },
    status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime: time, lastTransitionTime: time }] },
  };
};
const of = (asked: readonly Asked[], kind: string): number => asked.filter((one) => one.kind === kind).length;

test('a node is asked every 10 s while a config is on trial, and never without one', async () => {
  const { clock, health, asked, end } = standing(({ kind }, now) => (kind === 'Node' ? [node('True', now)] : []), 'node');
  await clock.advance(60_000);
  assert.ok(of(asked, 'Node') >= 6 && of(asked, 'Node') <= 7, `${of(asked, 'Node')} questions in a minute`);
  assert.equal(health.now()?.healthy, true);
  health.follow(undefined);
  await clock.advance(20_000);
  const seen = asked.length;
  await clock.advance(3_600_000);
  assert.equal(asked.length, seen);
  assert.equal(health.now(), undefined);
  await end();
});

test('a Node that was Ready and is not any more says badly, also where the clock was set back meanwhile', async () => {
  let status: 'True' | 'False' = 'True';
  const { clock, health, end } = standing(({ kind }, now) => (kind === 'Node' ? [node(status, now)] : []), 'node');
  await clock.advance(0);
  clock.jump(-3_600_000);
  status = 'False';
  await clock.advance(20_000);
  assert.equal(health.now()?.healthy, false);
  await end();
});

test('a Node whose heartbeat is older than the kubelet is healthy where the kubelet has renewed its Lease', async () => {
  const lease = (now: number): KubeObject => ({ metadata: {}, spec: { renewTime: new Date(now).toISOString() } });
  const { clock, health, end } = standing(({ kind }, now) => [kind === 'Lease' ? lease(now) : node('True', 0)], 'node');
  await clock.advance(0);
  assert.equal(health.now()?.healthy, true);
  await end();
});

test('an answer that hangs counts for three periods, no longer', async () => {
  let hangs = false;
  const { clock, health, end } = standing(({ kind }, now) => (kind === 'Node' ? [node(hangs ? 'True' : 'False', now)] : []));
  await clock.advance(1000);
  assert.equal(health.now()?.healthy, false);
  hangs = true;
  clock.monotonic = () => Number.MAX_SAFE_INTEGER;
  assert.equal(health.now(), undefined);
  await end();
});

test('of a node with endless pods ten pages are read, and only for two minutes after the start of the kubelet', async () => {
  const pod = (n: number) => ({ metadata: { namespace: 'web', name: `p-${n}`, uid: `u-${n}` }, status: { phase: 'Running' } });
  const page = Array.from({ length: 500 }, (_, n) => pod(n));
  const { clock, asked, end } = standing(({ kind }, now) => (kind === 'Pod' ? page : [node('True', now)]));
  await clock.advance(0);
  assert.equal(of(asked, 'Pod'), 10);
  assert.deepEqual(asked.find(({ kind }) => kind === 'Pod')?.query, { fieldSelector: 'spec.nodeName=node-a', limit: 500 });
  await clock.advance(200_000);
  const seen = of(asked, 'Pod');
  assert.ok(seen <= 160, `${seen} pages`);
  await clock.advance(400_000);
  assert.equal(of(asked, 'Pod'), seen);
  await end();
});

test('--trial-health=kubelet asks nobody', async () => {
  const { clock, asked, end } = standing(() => [], 'kubelet');
  await clock.advance(60_000);
  assert.equal(asked.length, 0);
  await end();
});
