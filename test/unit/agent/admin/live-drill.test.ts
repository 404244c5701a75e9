import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { assignedAndTrusted } from '../../../support/node-on-disk.ts';
import { liveDrill, type LiveDeps } from '../../../../agent/admin/drill/execute.ts';
import { planLiveDrill, type Peek } from '../../../../agent/admin/drill/plan.ts';
import type { ActiveRecord } from '../../../../agent/store/active-record.ts';
import type { Clock } from '../../../../base/clock.ts';

/** A node and an agent that follows its condemnations in memory, `delay` looks late. */
async function nodeWithAgent(t: TestContext, behaviour: { follows?: boolean; healthy?: () => boolean; delay?: number } = {}) {
  const { follows = true, healthy = () => true, delay = 2 } = behaviour;
  const node = await assignedAndTrusted(t);
  const { trusted, assigned } = node;
  const plan = planLiveDrill(await node.observe(), new Date(node.now()).toISOString());
  assert.ok(plan.at === 'planned');

  let at = 0;
  let looks = 0;
  const clock: Clock = {
    now: () => node.now() + at,
    monotonic: () => at,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      at += ms;
    },
    after: () => () => {},
  };
  let seen = 0;
  const peek = async (): Promise<Peek> => {
    looks += 1;
    const condemned = (await node.store.condemned()).length > 0;
    seen = condemned ? seen + 1 : 0;
    const fallen = follows && condemned && seen > delay;
    const record: ActiveRecord = {
      ...(fallen ? { used: 'last-known-good', source: trusted } : { used: 'assigned', source: assigned }),
      error: null,
      effectiveSha256: fallen ? 'b' : 'a',
      carrier: 'node',
      why: '',
      at: '',
    };
    return {
      active: { ok: true, record },
      effectiveSha256: record.effectiveSha256,
      startedSha256: record.effectiveSha256,
      healthy: healthy(),
    };
  };
  const said: string[] = [];
  const control = new AbortController();
  const deps: LiveDeps = { store: node.store, clock, signal: control.signal, peek, say: (text) => said.push(text), timeoutMs: 10_000 };
  return { node, plan, deps, said, control, assigned, looks: () => looks };
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

test('a live drill keeps what was condemned before', async (t) => {
  const { node, plan, deps } = await nodeWithAgent(t, { follows: false });
  const other = await node.condemn(await node.save('3'));
  await liveDrill(plan, { ...deps, timeoutMs: 0 });
  assert.deepEqual(await node.store.condemned(), [other]);
});

test('an agent that does not follow fails the drill, and all is taken back', async (t) => {
  const { node, plan, deps } = await nodeWithAgent(t, { follows: false });
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
  assert.deepEqual(await node.store.condemned(), []);
});

test('a kubelet that is not healthy on the fall back fails the drill, and all is taken back', async (t) => {
  let looks = 0;
  const { node, plan, deps } = await nodeWithAgent(t, { healthy: () => ++looks > 45 });
  const { passed, steps } = await liveDrill(plan, deps);
  assert.equal(passed, false);
  assert.equal(steps[1]?.seen, 'last-known-good, kubelet not healthy after 10 s');
  assert.deepEqual(await node.store.condemned(), []);
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

test('a node that cannot be looked at is no reason to leave it condemned', async (t) => {
  const { node, plan, deps } = await nodeWithAgent(t);
  await assert.rejects(liveDrill(plan, { ...deps, peek: () => Promise.reject(new Error('EIO')) }), /EIO/);
  assert.deepEqual(await node.store.condemned(), []);
});

test('the condemnation is cleared before a word is said of it, so that a dead terminal cannot stop it', async (t) => {
  const { node, plan, deps, control } = await nodeWithAgent(t, { follows: false });
  let heard = 0;
  const say = (text: string): void => {
    if (text.startsWith('fall back')) return control.abort(new Error('ended by SIGHUP'));
    heard += 1;
    throw new Error('write EIO');
  };
  await assert.rejects(liveDrill(plan, { ...deps, say }), /EIO/);
  assert.equal(heard, 1);
  assert.deepEqual(await node.store.condemned(), []);
});

test('a lock that is lost to the same signal is taken again, and given up at the third time', async (t) => {
  for (const { lost, left } of [
    { lost: 2, left: 0 },
    { lost: 3, left: 1 },
  ]) {
    const { node, plan, deps, control } = await nodeWithAgent(t, { follows: false });
    let failures = 0;
    const store = new Proxy(node.store, {
      get: (target, name) => {
        if (name === 'locked' && control.signal.aborted && failures < lost) {
          failures += 1;
          return () => Promise.reject(new Error('flock was killed'));
        }
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const say = (text: string): void => {
      if (text.startsWith('fall back')) control.abort(new Error('ended by SIGHUP'));
    };
    await assert.rejects(
      liveDrill(plan, { ...deps, store, say }),
      left === 0 ? /Cannot finish the drill/ : /Cannot clear .*run dkc retry now/,
    );
    assert.equal(failures, lost);
    assert.equal((await node.store.condemned()).length, left);
  }
});
