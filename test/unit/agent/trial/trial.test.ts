import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NodeConfigState } from '../../../../agent/status/node-config-state.ts';
import type { CondemnedRecord, Store, TrialRecord } from '../../../../agent/store/store.ts';
import { digestFiles } from '../../../../agent/checkpoint/payload.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';
import type { ExitsFile, KubeletExit } from '../../../../agent/trial/exits.ts';
import { TrialWatch } from '../../../../agent/trial/trial.ts';
import { type Log, silentLog } from '../../../../base/log.ts';
import { type Clock, realClock } from '../../../../base/clock.ts';
import { condemned, content, filesOf, source } from '../../../support/builders.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const A = content('A');
const noTrial = { trial: async () => undefined, load: async () => ({ at: 'missing' }) };

/** What the store has of A, whichever source is asked for. */
const trustedLoad = async () => ({ at: 'intact', checkpoint: { manifest: { files: digestFiles(filesOf({ kubelet: 'A' })) } } });

/** A watch of a trial of A, whose effective file has the hash `now`, on what these tests use of a store. */
function watching(given: {
  trialDuration: number;
  clock: Clock;
  store: object;
  exits: KubeletExit[];
  trusted?: Source;
  log?: Log;
  onHealthy?: () => void;
  onProblem?: (problem: string | null) => void;
  used?: 'local';
  follow?: (trialAt: number | undefined) => void;
  exit?: (why: string) => Promise<void>;
}): TrialWatch {
  return new TrialWatch({
    options: { kubeletHealthz: '', trialDuration: given.trialDuration, unhealthyDeadline: 600_000, maxKubeletExits: 3 },
    store: { ...noTrial, ...given.store } as unknown as Store,
    configState: new NodeConfigState({
      used: given.used ?? 'assigned',
      source: source('web@1'),
      content: A,
      assigned: source('web@1'),
      assignedKnown: true,
      lastKnownGood: given.trusted ?? null,
      error: null,
      effective: { path: '/e', sha256: 'now', changed: false, usable: true },
    }),
    exits: { length: async () => 0, since: async () => ({ exits: given.exits.splice(0), offset: 400 }) } as unknown as ExitsFile,
    clock: given.clock,
    log: given.log ?? silentLog,
    boot: { bootId: 'boot', stoppedIn: undefined },
    probe: async () => ({ healthy: true, detail: '' }),
    isRunning: async () => true,
    onHealthy: given.onHealthy ?? (() => {}),
    ...(given.onProblem && { onProblem: given.onProblem }),
    node: { follow: given.follow ?? (() => {}), now: () => undefined },
    slowDisk: { worst: () => 'a write took 9 s' },
    exit: given.exit ?? (async () => assert.fail('the agent goes back, though one exit is allowed')),
  });
}

const crash = (effectiveSha256: string): KubeletExit => {
  return { at: '2026-01-01T00:00:00Z', serviceResult: 'exit-code', exitCode: 'exited', exitStatus: '1', effectiveSha256 };
};

test('of the exits of the kubelet only those under the config on trial count, and they are on disk with those that another agent saw before the next look', async () => {
  const evidence = ['2025-12-31T23:59:59Z exited with status 2'];
  const assignedAt = '2025-12-31T23:00:00Z';
  const before = { source: source('web@1'), ...A, assignedAt, healthyMs: 0, exits: 1, evidence, exitsOffset: 0, bootId: 'boot' };
  const written: (TrialRecord | undefined)[] = [];
  const looks: (() => void)[] = [];
  const look = (): Promise<void> => new Promise((resolve) => looks.push(resolve));
  const stop = new AbortController();
  const watch = watching({
    trialDuration: 600_000,
    clock: new FakeClock(),
    store: { trial: async () => before, setTrial: async (record: TrialRecord | undefined) => void written.push(record) },
    exits: ['before', 'before', 'before', 'now'].map(crash),
    onHealthy: () => looks.shift()?.(),
  });
  await watch.open();
  const first = look();
  const running = watch.run(stop.signal);
  await first;
  const second = look();
  watch.notify();
  await second;
  const { exits, exitsOffset, evidence: all } = written.at(-1) ?? {};
  assert.deepEqual([exits, exitsOffset, all], [2, 400, [...evidence, '2026-01-01T00:00:00Z exited with status 1']]);
  stop.abort();
  await running;
});

test('a config that an admin rolled back at the very moment of its promotion does not replace what is trusted', async () => {
  const written: string[] = [];
  const tried = Promise.withResolvers<void>();
  const store = {
    ...noTrial,
    setTrial: async (record: unknown) => void (record ?? written.push('trial removed')),
    condemned: async () => [condemned(A, { by: 'admin' })],
    setRecord: async (name: string) => void written.push(name),
    addToJournal: async ({ event }: { event: string }) => void written.push(event),
    locked: async (change: (own: unknown) => Promise<unknown>) => {
      const result = await change(store);
      tried.resolve();
      return result;
    },
  };
  const watch = watching({ trialDuration: 1, clock: realClock, store, exits: [] });
  await watch.open();
  const stop = new AbortController();
  const running = watch.run(stop.signal);
  await tried.promise;
  stop.abort();
  await running;
  assert.deepEqual(written, []);
});

test('the evidence of a condemnation are the exits, the last health and the slowest sync of the disk', async () => {
  const verdicts: CondemnedRecord[] = [];
  const setCondemned = async (all: CondemnedRecord[]): Promise<void> => void verdicts.push(...all);
  const own = { setTrial: async () => {}, record: async () => ({ at: 'none' }), condemned: async () => [], setCondemned };
  const store = { ...own, locked: (change: (of: object) => Promise<unknown>) => change(own), addToJournal: async () => {}, settleCondemned: async () => true }; // prettier-ignore
  const exits = ['now', 'now', 'now'].map(crash);
  const stop = new AbortController();
  const exit = async (why: string): Promise<void> => stop.abort(why);
  const watch = watching({ trialDuration: 600_000, clock: new FakeClock(), store, exits, exit });
  await watch.open();
  await watch.run(stop.signal);
  assert.equal(stop.signal.reason, 'rolling back: kubelet exited 3 times');
  const ended = '2026-01-01T00:00:00Z exited with status 1';
  assert.deepEqual(verdicts.map(({ evidence }) => evidence), [[ended, ended, ended, 'last health: not asked', 'a write took 9 s']]); // prettier-ignore
});

test('the record of a trial goes once the node runs something else, unless a condemnation is in memory alone', async () => {
  for (const isSettled of [true, false]) {
    const written: unknown[] = [];
    const store = { trial: async () => ({}), setTrial: async (record: unknown) => void written.push(record), settleCondemned: async () => isSettled }; // prettier-ignore
    await watching({ trialDuration: 1, clock: new FakeClock(), store, exits: [], used: 'local' }).open();
    assert.equal(written.length, isSettled ? 1 : 0);
  }
});

test('the log says that a trial begins where one does, not at each start on a config that is trusted', async () => {
  const store = { ...noTrial, load: trustedLoad, setTrial: async () => {} };
  for (const trusted of [undefined, source('web@1')]) {
    const { log, lines } = recordedLog();
    await watching({ trialDuration: 1, clock: new FakeClock(), store, exits: [], log, ...(trusted && { trusted }) }).open();
    assert.deepEqual(lines, trusted === undefined ? ['info: trial begins'] : []);
  }
});

for (const { what, trialDuration } of [
  { what: 'being saved', trialDuration: 600_000 },
  { what: 'passing', trialDuration: 1 },
])
  test(`what keeps a trial from ${what} is said until it is over`, async () => {
    const clock = new FakeClock();
    const said: (string | null)[] = [];
    const stop = new AbortController();
    let isFull = false;
    const write = async (): Promise<void> => (isFull ? assert.fail('the disk is full') : undefined);
    const followed: unknown[] = [];
    const own = { load: trustedLoad, setTrial: write, setRecord: write, addToJournal: write, condemned: async () => [] };
    const store = { ...own, locked: (change: (of: object) => Promise<unknown>) => change(own) };
    const watch = watching({ trialDuration, clock, store, exits: [], onProblem: (problem) => said.push(problem), follow: (trialAt) => followed.push(typeof trialAt) }); // prettier-ignore
    await watch.open();
    isFull = true;
    const running = watch.run(stop.signal);
    await clock.advance(60_000);
    isFull = false;
    await clock.advance(10_000);
    assert.deepEqual(said.filter((one, at) => one !== said[at - 1]), [null, 'the disk is full', null]); // prettier-ignore
    assert.deepEqual([...new Set(followed)], trialDuration === 1 ? ['number', 'undefined'] : ['number'], 'the Node is read during the trial'); // prettier-ignore
    stop.abort();
    await running;
  });
