import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMetrics } from '../../../../agent/metrics/metrics.ts';

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

test('each kind of drift is a series, 1 while the node drifts so', async () => {
  const metrics = openMetrics(() => Promise.resolve([]));
  const drift = [{ kind: 'NotUsed', detail: '', since: '' }] as const;
  metrics.picture({ assigned: null, active: null, lastKnownGood: null, error: null, drift });
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('dkc_agent_drift'));
  assert.deepEqual(lines, ['EffectiveFileChanged"} 0', 'NotUsed"} 1', 'KubeletDiffers"} 0'].map((rest) => `dkc_agent_drift{kind="${rest}`)); // prettier-ignore
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
