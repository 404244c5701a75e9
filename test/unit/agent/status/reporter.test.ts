import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { silentLog } from '../../../../base/log.ts';
import { nodes } from '../../../../kube/api/object.ts';
import { ApiError, isForbidden } from '../../../../kube/client/errors.ts';
import { assignmentCarrier, type AssignmentCarrierDeps } from '../../../../agent/status/assignment-carrier.ts';
import { nodeCarrier } from '../../../../agent/status/node-carrier.ts';
import { type NodeConfig, nodeConfigs } from '../../../../agent/status/node-config.ts';
import { nodeConfigCarrier } from '../../../../agent/status/node-config-carrier.ts';
import type { ConfigStatus } from '../../../../agent/status/node-config-state.ts';
import { type Carrier, type Reported, Reporter } from '../../../../agent/status/reporter.ts';
import { FakeApi } from '../../../support/fake-api.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { intercepted, type Interceptor } from '../../../support/simulated/intercepted.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { assignedSituation } from '../../../support/situations.ts';

type Answer = Reported | Error | Carrier['report'];

/** A reporter on fake time. Each report gets this answer: what the carrier says, or an error for some times; or `answer` is the carrier. */
function reporting(t: TestContext, answer: Answer, { clock = new FakeClock(), failures = 9, synced = () => Promise.resolve() } = {}) {
  const { log, lines } = recordedLog();
  const from = clock.monotonic();
  const configState = assignedSituation();
  const reports: { at: number; picture: ConfigStatus }[] = [];
  const [problems, kept]: [(string | null)[], boolean[]] = [[], []];
  const carrier = {
    name: 'node' as const,
    watch: () => Promise.resolve(),
    report: async (picture: ConfigStatus, ...rest: [AbortSignal, { isComplete: boolean }]): Promise<Reported> => {
      reports.push({ at: clock.monotonic() - from, picture });
      if (typeof answer === 'function') return answer(picture, ...rest);
      if (answer instanceof Error && reports.length <= failures) throw answer;
      if (answer instanceof Error) return { sent: true, kept: true };
      return answer;
    },
  };
  const onProblem = (problem: string | null): unknown => problems.push(problem);
  const reporter = new Reporter({ carrier, configState, clock, random: () => 0, log, onKept: (is) => kept.push(is), onProblem });
  const end = new AbortController();
  const running = reporter.run(end.signal, synced);
  t.after(async () => {
    end.abort();
    await running;
    assert.equal(clock.sleepers, 0, 'a stopped reporter waits for nothing');
  });
  return { clock, configState, reporter, reports, problems, kept, lines, times: () => reports.map(({ at }) => at) };
}

for (const what of ['sent', 'noted'] as const)
  test(`another writer of the same ${{ sent: 'fields', noted: 'annotation' }[what]} is answered once a second, not at once`, async (t) => {
    const { clock, reporter, configState, times, reports } = reporting(t, { sent: false, [what]: true, kept: true });
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

test('only a report that was sent, or would be dropped, says whether the server keeps the fields', async (t) => {
  for (const [sent, keeps, kept] of [[true, true, [true]], [true, false, [false]], [false, false, [false]], [false, true, []]] as const) {
    const one = reporting(t, { sent, kept: keeps });
    one.reporter.notify();
    await one.clock.advance(0);
    assert.deepEqual(one.kept, kept, `sent: ${sent}, kept: ${keeps}`);
  }
}); // prettier-ignore

test('a report waits two seconds for sync, and is sent again when sync is done, each time', async (t) => {
  let sync = Promise.withResolvers<void>();
  const { clock, reporter, times } = reporting(t, { sent: false, kept: true }, { synced: () => sync.promise });
  for (let round = 0; round < 2; round++) {
    reporter.notify();
    await clock.advance(5000);
    sync.resolve();
    await clock.advance(0);
    sync = Promise.withResolvers();
    await clock.advance(5000);
  }
  assert.deepEqual(times(), [2000, 5000, 12_000, 15_000]);
  sync.resolve();
});

test('a report that fails is tried again, longer apart each time, and said aloud once; an admin is told for as long as that lasts', async (t) => {
  const { clock, reporter, times, lines, problems } = reporting(t, new Error('away'));
  reporter.notify();
  await clock.advance(91_500);
  assert.deepEqual(times(), [0, 500, 1500, 3500, 7500, 15_500, 31_500, 61_500, 91_500]);
  const warned = lines.filter((line) => line.startsWith('warn'));
  assert.deepEqual([warned, problems], [['warn: failed to write status, retrying'], ['away']]);
  await clock.advance(30_000);
  assert.deepEqual(problems, ['away', null]);
  const short = reporting(t, new Error('away'), { failures: 5 });
  short.reporter.notify();
  await short.clock.advance(15_500);
  assert.deepEqual(short.problems, ['away', null]);
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
  const { reporter, lines, times } = reporting(t, report, { clock });
  const onSeen = (): void => reporter.notify();
  const watching = carrier.watch({ onState: () => {}, onSeen, onVersion: () => {}, pollMs: () => 1 }, end.signal);
  await clock.advance(400);
  end.abort();
  await watching;
  const { status } = api.get(nodeConfigs, { name: 'n' }) as NodeConfig;
  const types = status?.conditions?.map(({ type }) => type).join(' ');
  assert.deepEqual([types, lines], ['Synced Healthy Trusted Audited', ['debug: failed to write status, retrying']]);
});

/** A report by such a carrier of Node `n`, whose API server answers a patch of the Node with this error, if any. */
async function carried(t: TestContext, api: FakeApi, open: (deps: AssignmentCarrierDeps) => Carrier, refusal?: () => Error | undefined) {
  const [clock, end] = [new FakeClock(), new AbortController()];
  api.put(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, status: {} });
  const whole = api.client({ alive: () => true, onStatus: () => {}, onEvent: () => {} });
  const call: Interceptor['call'] = async ({ resource }, pass) => {
    const error = resource === 'nodes/status' ? refusal?.() : undefined;
    return error ? Promise.reject(error) : pass();
  };
  const node = { nodeName: 'n', configmapNamespace: '', version: '1', mode: 'auto', assignedBy: undefined } as const;
  const carrier = open({ ...node, client: intercepted(whole, { call }), clock, random: () => 0, log: silentLog });
  const watching = carrier.watch({ onWanted: () => {}, onSeen: () => {} }, end.signal);
  t.after(async () => {
    end.abort();
    await watching;
  });
  await clock.advance(1_000);
  return { clock, report: () => carrier.report(assignedSituation().picture, end.signal, { isComplete: true }) };
}

test('a server that drops the fields is patched once for each picture, not at each look', async (t) => {
  const api = Object.assign(new FakeApi(), { gate: false });
  const { report } = await carried(t, api, nodeCarrier);
  for (let look = 0; look < 5; look++) await report();
  assert.equal(api.patches, 1);
});

for (const { why, version, has } of [
  { why: 'fails the report, where the annotation alone shows the config', version: 'v1.36.3', has: false },
  { why: 'fails the probe', version: 'v1.20.2', has: false },
  { why: 'is retried after five minutes, where a NodeConfig has the status', version: 'v1.36.3', has: true },
])
  test(`a 403 for a Node, of RBAC or of a webhook, ${why}; the Node is written once that is over`, async (t) => {
    const api = Object.assign(new FakeApi(), { version, hasNodeConfigs: true });
    if (has) api.put(nodeConfigs, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name: 'n' } });
    const denied = new ApiError({ method: 'PATCH', path: '/', host: 'api' }, { code: 403, reason: 'Forbidden', message: 'denied' });
    const answers = has ? [denied] : [denied, denied, denied];
    const { clock, report } = await carried(t, api, assignmentCarrier, () => answers.shift());
    for (let look = 0; look < 3; look++) await (has ? report() : assert.rejects(report(), isForbidden));
    const annotation = () => api.get(nodes, { name: 'n' })?.metadata.annotations?.['dkc.dev/agent'];
    assert.deepEqual([answers, annotation()], [[], undefined]);
    if (has) await clock.advance(300_000);
    await report();
    assert.ok(annotation());
  });
