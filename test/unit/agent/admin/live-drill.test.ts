import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assignedAndTrusted } from '../../../support/node-on-disk.ts';
import { liveDrill, type LiveDeps } from '../../../../agent/admin/drill/execute.ts';
import { planLiveDrill, type Peek } from '../../../../agent/admin/drill/plan.ts';
import type { ActiveRecord } from '../../../../agent/store/active-record.ts';
import type { Clock } from '../../../../base/clock.ts';

/** A node and an agent that follows its condemnations in memory, two looks late. */
async function nodeWithAgent(t: TestContext, { follows = true }: { follows?: boolean } = {}) {
  const node = await assignedAndTrusted(t);
  const { trusted, assigned } = node;
  const plan = planLiveDrill(await node.observe(), new Date(node.now()).toISOString());
  assert.ok(plan.at === 'planned');
  let [at, seen] = [0, 0];
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    at += ms;
  };
  const clock: Clock = { now: () => node.now() + at, monotonic: () => at, sleep, after: () => () => {} };
  const peek = async (): Promise<Peek> => {
    const condemned = (await node.store.condemned()).length > 0;
    seen = condemned ? seen + 1 : 0;
    const fallen = follows && condemned && seen > 2;
    const place = fallen ? ({ used: 'last-known-good', source: trusted } as const) : ({ used: 'assigned', source: assigned } as const);
    const effectiveSha256 = fallen ? 'b' : 'a';
    const record: ActiveRecord = { ...place, error: null, effectiveSha256, carrier: 'node', why: '', at: '' };
    return { active: { ok: true, record }, effectiveSha256, startedSha256: effectiveSha256, healthy: true };
  };
  const control = new AbortController();
  const deps: LiveDeps = { store: node.store, clock, signal: control.signal, peek, say: () => {}, timeoutMs: 10_000 };
  return { node, plan, deps, control, assigned };
}

test('a live drill goes there and back, and leaves nothing but two lines in the journal', async (t) => {
  const { node, plan, deps, assigned } = await nodeWithAgent(t);
  const { passed, steps } = await liveDrill(plan, deps);
  assert.equal(passed, true);
  assert.deepEqual(
    steps.map((step) => [step.expected, step.seen]),
    [
      ['last-known-good', 'last-known-good'],
      ['last-known-good', 'last-known-good'],
      ['assigned', 'assigned'],
      ['assigned', 'assigned'],
    ],
  );
  assert.equal(steps[0]?.ms, 500);
  assert.deepEqual(await node.store.condemned(), []);
  assert.deepEqual(
    (await node.store.journal()).map((line) => [line.event, line.source]),
    [
      ['rolled-back', assigned],
      ['retried', assigned],
    ],
  );
});

test('an agent that does not follow fails the drill, and all is taken back', async (t) => {
  const { node, plan, deps } = await nodeWithAgent(t, { follows: false });
  const other = await node.condemn(await node.save('3'));
  const { passed, steps } = await liveDrill(plan, deps);
  assert.equal(passed, false);
  assert.deepEqual(
    steps.map((step) => [step.seen, step.passed]),
    [
      ['assigned after 10 s', false],
      ['assigned', true],
      ['assigned', true],
    ],
  );
  assert.deepEqual(await node.store.condemned(), [other], 'what was condemned before stays');
});

test('an interrupted drill takes its condemnation back before it ends', async (t) => {
  const { node, plan, deps, control } = await nodeWithAgent(t, { follows: false });
  const peek = async () => {
    if ((await node.store.condemned()).length > 0) control.abort(new Error('ended by SIGINT'));
    return deps.peek();
  };
  await assert.rejects(
    liveDrill(plan, { ...deps, peek }),
    /Cannot finish the drill at "fall back: .*: it was interrupted; its condemnation is cleared/,
  );
  assert.deepEqual(await node.store.condemned(), []);
});
