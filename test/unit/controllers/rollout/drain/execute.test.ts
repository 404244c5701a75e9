import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DrainOutcome, DrainStep, Node } from '../../../../../controllers/rollout/drain/contract.ts';
import { ApiEvictor, EvictionBackoff } from '../../../../../controllers/rollout/drain/eviction.ts';
import { executeDrain } from '../../../../../controllers/rollout/drain/execute.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { ApiError, TransportError } from '../../../../../kube/client/errors.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { node, web } from './notation.ts';

const about = { method: 'POST', path: '/', host: 'test' };
const error = (code: number, message = '', more: object = {}): ApiError => new ApiError(about, { code, reason: '', message, ...more });
const served = (version: string) => ({ resources: [{ name: 'pods' }, { name: 'pods/eviction', group: 'policy', version }] });

type Answers = { post?: (name: string) => unknown; get?: unknown; patch?: unknown; version?: string };
/** A server that answers each call as it is told, and the calls that it got. */
function world({ post, get, patch, version = 'v1' }: Answers) {
  const calls: string[] = [];
  const answer = async (what: string, value: unknown): Promise<unknown> => {
    calls.push(what);
    if (value instanceof Error) throw value;
    return value;
  };
  const client = {
    raw: async () => served(version),
    post: (_: unknown, { name }: { name: string }, __: unknown, body: { apiVersion: string; deleteOptions: { preconditions: object } }) =>
      answer(`${body.apiVersion} ${name} ${JSON.stringify(body.deleteOptions.preconditions)}`, post?.(name)),
    get: () => answer('get', get),
    patch: () => answer('patch', patch),
  } as unknown as Client;
  const clock = new FakeClock();
  const backoff = new EvictionBackoff(clock);
  const evictor = new ApiEvictor(client);
  const run = (step: DrainStep) => executeDrain(step, { client, evictor, backoff }, new AbortController().signal);
  return { calls, clock, backoff, run };
}

const refs = ['a', 'b'].map((name) => ({ namespace: 'shop', name, uid: `u-${name}` }));
const evict: DrainStep = { do: 'evict', node: 'node-a', pods: refs, gracePeriodSeconds: undefined };
const budget = { details: { causes: [{ message: 'The disruption budget a needs 1 healthy pods and has 1 currently' }] } };
const saidOf = ({ evicted, deleted, refused }: Extract<DrainOutcome, { result: 'evicted' }>): string =>
  [
    ...evicted.map(({ name }) => `evicted ${name}`),
    ...deleted.map(({ name }) => `gone ${name}`),
    ...refused.map(({ name, why }) => `refused ${name}: ${why}`),
  ].join(', ');
const evictions: { why: string; ofA: unknown; is: string; heldMs: number }[] = [
  { why: 'evicts', ofA: {}, is: 'evicted a, evicted b', heldMs: 5_000 },
  { why: 'takes a pod that is not there for gone', ofA: error(404), is: 'evicted b, gone a', heldMs: 5_000 },
  { why: 'takes another pod of the name for none', ofA: error(409), is: 'evicted b, gone a', heldMs: 5_000 },
  { why: 'names the budget that refuses', ofA: error(429, 'no', budget), is: `evicted b, refused a: ${budget.details.causes[0]?.message}`, heldMs: 5_000 },
  { why: 'waits a minute at most', ofA: error(429, 'no', { retryAfterMs: 3_600_000 }), is: 'evicted b, refused a: 429 no', heldMs: 60_000 },
  { why: 'says what a webhook refuses, and goes on', ofA: error(403, 'frozen'), is: 'evicted b, refused a: 403 frozen', heldMs: 5_000 },
  { why: 'asks for the version again after a refusal of it', ofA: error(400, 'odd'), is: 'evicted b, refused a: 400 odd', heldMs: 5_000 },
  { why: 'stops where the server does not know the client', ofA: error(401), is: 'ApiError', heldMs: 0 },
  { why: 'stops where the server is not there', ofA: new TransportError(about, 'cut', { hint: '' }), is: 'TransportError', heldMs: 0 },
]; // prettier-ignore
for (const { why, ofA, is, heldMs } of evictions)
  test(`eviction ${why}; who was asked for is not asked for again at once`, async () => {
    const { calls, clock, backoff, run } = world({ post: (name) => (name === 'a' ? ofA : {}) });
    const outcome = await run(evict).catch(({ name }: Error) => name);
    const said = typeof outcome === 'string' || outcome.result !== 'evicted' ? outcome : saidOf(outcome);
    assert.equal(said, is);
    assert.equal(calls[0], 'policy/v1 a {"uid":"u-a"}');
    assert.equal(backoff.heldBack('u-a')?.leftMs ?? 0, heldMs);
    await clock.advance(2_000);
    assert.equal(backoff.heldBack('u-a')?.leftMs ?? 0, Math.max(0, heldMs - 2_000));
  });

test('a server before 1.22 is sent evictions of policy/v1beta1, and one without them is named', async () => {
  const old = world({ version: 'v1beta1', post: () => ({}) });
  await old.run(evict);
  assert.match(old.calls.join(), /^policy\/v1beta1 a .*,policy\/v1beta1 b /);
  const none = new ApiEvictor({ raw: async () => ({ resources: [] }) } as unknown as Client);
  await assert.rejects(
    none.evict(refs[0] ?? assert.fail(), { gracePeriodSeconds: undefined, signal: new AbortController().signal }),
    /does not serve it; set spec\.drain: Never/,
  );
});

const cordon: DrainStep = { do: 'patch', what: 'cordon', node: 'node-a', body: {} };
const uncordon: DrainStep = { do: 'uncordon', node: 'node-a', owner: web };
const writes: { why: string; step: DrainStep; get?: unknown; patch?: unknown; is: string; calls: string }[] = [
  { why: 'a patch has the node as it is now', step: cordon, patch: node('drain'), is: 'patched', calls: 'patch' },
  { why: 'somebody else has written the node', step: cordon, patch: error(409), is: 'conflict', calls: 'patch' },
  { why: 'the node is gone', step: cordon, patch: error(404), is: 'gone', calls: 'patch' },
  { why: 'a write is refused', step: cordon, patch: error(403), is: 'ApiError', calls: 'patch' },
  { why: 'the cordon is taken away by what the server has', step: uncordon, get: node('drain'), patch: node(), is: 'patched', calls: 'get patch' },
  { why: 'nothing of it is left', step: uncordon, get: node('cordon'), is: 'patched', calls: 'get' },
  { why: 'the node is gone before it is given back', step: uncordon, get: error(404), is: 'gone', calls: 'get' },
  { why: 'it waits', step: { do: 'wait', why: '', isHeld: false, requeueAfterMs: 1 }, is: 'nothing', calls: '' },
  { why: 'it is over', step: { do: 'drained' }, is: 'nothing', calls: '' },
  { why: 'the node cannot be read', step: uncordon, get: error(500), is: 'ApiError', calls: 'get' },
]; // prettier-ignore
for (const { why, step, get, patch, is, calls: wanted } of writes)
  test(`a step of a drain: ${why}`, async () => {
    const { calls, run } = world({ get, patch });
    const outcome = await run(step).catch(({ name }: Error) => name);
    assert.equal(typeof outcome === 'string' ? outcome : outcome.result, is);
    assert.equal(calls.join(' '), wanted);
    if (typeof outcome !== 'string' && outcome.result === 'patched' && patch !== undefined) assert.equal(outcome.node, patch as Node);
  });
