import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { nodeCarrier } from '../../../../agent/status/node-carrier.ts';
import { type NodeConfig, nodeConfigs } from '../../../../agent/status/node-config.ts';
import { nodeConfigCarrier } from '../../../../agent/status/node-config-carrier.ts';
import type { ConfigStatus } from '../../../../agent/status/node-config-state.ts';
import { type Carrier, type Reported, Reporter } from '../../../../agent/status/reporter.ts';
import { FakeApi } from '../../../support/fake-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { assignedSituation } from '../../../support/situations.ts';

/** A reporter on fake time. Each report gets this answer: what the carrier says, or an error; or `answer` is the carrier. */
function reporting(t: TestContext, answer: Reported | Error | Carrier['report'], clock = new FakeClock()) {
  const { log, lines } = recordedLog();
  const from = clock.monotonic();
  const configState = assignedSituation();
  const reports: { at: number; picture: ConfigStatus }[] = [];
  const problems: (string | null)[] = [];
  const carrier = {
    name: 'node' as const,
    watch: () => Promise.resolve(),
    report: async (picture: ConfigStatus, ...rest: [AbortSignal, { isComplete: boolean }]): Promise<Reported> => {
      reports.push({ at: clock.monotonic() - from, picture });
      if (typeof answer === 'function') return answer(picture, ...rest);
      if (answer instanceof Error && reports.length < 10) throw answer;
      if (answer instanceof Error) return { sent: true, kept: true };
      return answer;
    },
  };
  const reporter = new Reporter({
    carrier,
    configState,
    clock,
    random: () => 0,
    log,
    onKept: () => {},
    onProblem: (problem) => problems.push(problem),
  });
  const end = new AbortController();
  const running = reporter.run(end.signal);
  t.after(async () => {
    end.abort();
    await running;
    assert.equal(clock.sleepers, 0, 'a stopped reporter waits for nothing');
  });
  return { clock, configState, reporter, reports, problems, lines, times: () => reports.map(({ at }) => at) };
}

for (const [what, sent, noted] of [
  ['fields', true, false],
  ['annotation', false, true],
] as const)
  test(`another writer of the same ${what} is answered once a second, not at once`, async (t) => {
    const { clock, reporter, configState, times, reports } = reporting(t, { sent, noted, kept: true });
    reporter.notify();
    await clock.advance(0);
    // Our own patch comes back as an event, and the other writer answers each of ours.
    for (let n = 0; n < 29; n++) {
      reporter.notify();
      await clock.advance(100);
    }
    assert.deepEqual(times(), [0, 0, 1000, 2000], 'the first answer is at once');
    configState.update({ error: 'news' });
    await clock.advance(1000);
    assert.equal(reports.at(-1)?.picture.error, 'news', 'what is new waits a second at most');
  });

test('a report that fails is tried again, longer apart each time, and said aloud once; an admin is told for as long as that lasts', async (t) => {
  const { clock, reporter, times, lines, problems } = reporting(t, new Error('away'));
  reporter.notify();
  await clock.advance(91_500);
  assert.deepEqual(times(), [0, 500, 1500, 3500, 7500, 15_500, 31_500, 61_500, 91_500]);
  assert.deepEqual(
    lines.filter((line) => line.startsWith('warn')),
    ['warn: failed to write status, retrying'],
  );
  assert.deepEqual(problems, ['away']);
  await clock.advance(30_000);
  assert.deepEqual(problems, ['away', null]);
});

test('a condition that another writer adds during a report is kept: the status is written over the newer object, without a warning', async (t) => {
  const [clock, end, api] = [new FakeClock(), new AbortController(), new FakeApi()];
  api.hasNodeConfigs = true;
  const other = { type: 'Audited', status: 'True', reason: 'R', message: '', observedGeneration: 1, lastTransitionTime: '' };
  const nodeConfig = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name: 'n' } };
  api.put(nodeConfigs, nodeConfig);
  const client = api.client({ alive: () => true, onStatus: () => {}, onEvent: () => {} });
  const carrier = nodeConfigCarrier({ client, clock, random: () => 0, log: silentLog, nodeName: 'n', configmapNamespace: '' });
  const facts = { agentVersion: '1', kubeletVersion: '', health: { at: 'healthy' }, now: '' } as const;
  const report: Carrier['report'] = (picture, signal) => {
    if (times().length === 1) api.put(nodeConfigs, { ...nodeConfig, status: { conditions: [other] } });
    return carrier.report(picture, facts, signal);
  };
  const { reporter, lines, times } = reporting(t, report, clock);
  const onSeen = (): void => reporter.notify();
  const watching = carrier.watch({ onState: () => {}, onSeen, onVersion: () => {}, pollMs: () => 1 }, end.signal);
  await clock.advance(400);
  end.abort();
  await watching;
  const { status } = api.get(nodeConfigs, { name: 'n' }) as NodeConfig;
  const types = status?.conditions?.map(({ type }) => type).join(' ');
  assert.deepEqual([types, lines], ['Synced Healthy Trusted Audited', ['debug: failed to write status, retrying']]);
});

test('a server that drops the fields is patched once for each picture, not at each look', async (t) => {
  const clock = new FakeClock();
  const end = new AbortController();
  const api = new FakeApi();
  api.gate = false;
  api.put(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: {} });
  const client = api.client({ alive: () => true, onStatus: () => {}, onEvent: () => {} });
  const deps = { client, clock, random: () => 0, log: silentLog, nodeName: 'n', configmapNamespace: '', version: '1' };
  const carrier = nodeCarrier(deps);
  const watching = carrier.watch({ onWanted: () => {}, onSeen: () => {} }, end.signal);
  t.after(async () => {
    end.abort();
    await watching;
  });
  await clock.advance(1_000);
  const picture = assignedSituation().picture;
  for (let look = 0; look < 5; look++) await carrier.report(picture, end.signal);
  assert.equal(api.patches, 1);
});
