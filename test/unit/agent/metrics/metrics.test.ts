import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMetrics } from '../../../../agent/metrics/metrics.ts';
import { keepMetricsServed } from '../../../../agent/metrics/server.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const source = { namespace: 'dkc-system', name: 'web', uid: 'u1', resourceVersion: '7', kubeletConfigKey: 'kubelet' };
const labels = (uid: string, from: string, rv: string, key: string): string =>
  `{node_config_source="${from}",node_config_uid="${uid}",node_config_resource_version="${rv}",node_config_kubelet_key="${key}"} 1`;

test("upstream's four gauges tell the newest picture, with one series each", async () => {
  const metrics = openMetrics(() => Promise.resolve([{ event: 'promoted' }, { event: 'promoted' }]));
  const picture = { assigned: source, active: null, lastKnownGood: null, error: 'failed to load config' };
  metrics.picture({ ...picture, active: source });
  metrics.picture(picture);
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('kubelet_node_config'));
  assert.deepEqual(lines, [
    `kubelet_node_config_assigned${labels('u1', '/api/v1/namespaces/dkc-system/configmaps/web', '7', 'kubelet')}`,
    `kubelet_node_config_active${labels('', 'local', '', '')}`,
    `kubelet_node_config_last_known_good${labels('', 'local', '', '')}`,
    'kubelet_node_config_error 1',
  ]);
});

test('transitions and syncs are counted from zero, and a second scrape counts nothing twice', async () => {
  const metrics = openMetrics(() => Promise.resolve([{ event: 'promoted' }, { event: 'promoted' }]));
  metrics.sync(true);
  metrics.trialHealthy(12.5);
  await metrics.text();
  const text = await metrics.text();
  assert.match(text, /^dkc_agent_transitions\{event="promoted"\} 2$/m);
  assert.match(text, /^dkc_agent_transitions\{event="condemned"\} 0$/m);
  assert.match(text, /^dkc_agent_sync_runs_total\{result="failed"\} 1$/m);
  assert.match(text, /^dkc_agent_sync_runs_total\{result="ok"\} 0$/m);
  assert.match(text, /^dkc_agent_trial_healthy_seconds 12.5$/m);
});

/** A metrics server that runs until the test ends. `next` resolves with the next state: the port that it listens on, or why it does not. */
function served(t: { after(done: () => Promise<void>): void }, address: string, text = () => Promise.resolve('up 1\n')) {
  const [clock, over] = [new FakeClock(), new AbortController()];
  const { log, lines } = recordedLog();
  const states: (number | string)[] = [];
  let wake = (): void => {};
  const note = (state: number | string): void => {
    states.push(state);
    wake();
  };
  const onState = (problem: string | null): unknown => problem !== null && note(problem);
  const deps = { address, metrics: { text }, clock, random: () => 0, log, onState, onPort: (port: number) => note(port) };
  const running = keepMetricsServed(deps, over.signal);
  const next = async (): Promise<number | string> => {
    while (states.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    return states.shift() ?? '';
  };
  const stop = async (): Promise<void> => {
    over.abort();
    await running;
  };
  t.after(stop);
  return { clock, lines, next, stop, running };
}

const get = (port: number | string, path: string) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });

test('metrics are served until the agent leaves', async (t) => {
  const { next, stop } = served(t, '127.0.0.1:0');
  const port = await next();
  const answer = await get(port, '/metrics');
  assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  assert.equal(await answer.text(), 'up 1\n');
  assert.deepEqual([(await get(port, '/healthz')).status, (await get(port, '/')).status], [200, 404]);
  await stop();
  await assert.rejects(get(port, '/healthz'));
});

test('an address that is no address, and a port of Kubernetes, end the metrics and nothing else', async (t) => {
  for (const [address, says] of [
    ['[::1]:10257', /its port belongs to kube-controller-manager/],
    [':10250', /its port belongs to the kubelet/],
  ] as const) {
    const { clock, next, running, lines } = served(t, address);
    assert.match(String(await next()), says);
    await running;
    assert.deepEqual([clock.sleepers, lines], [0, ['error: metrics are not served']]);
  }
});
