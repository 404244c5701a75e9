import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { alertRules } from '../../../deploy/monitoring.ts';
import { orSkip } from './suite.ts';

const PROMTOOL = '/usr/bin/promtool';
const exists = await access(PROMTOOL).then(
  () => true,
  () => false,
);
orSkip(exists ? undefined : "alert rules are tried with promtool, of Debian's package prometheus", 'alert rules', () => {
  test('each fires where it should, and none in a healthy cluster', async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'dkc-alerts-'));
    t.after(() => rm(home, { recursive: true }));
    await writeFile(join(home, 'rules.yaml'), stringify(alertRules));
    const all = alertRules.groups.flatMap(({ rules }) => rules);
    const fires = (alertname: string, labels: object, severity: string) => {
      const rule = all.find(({ alert }) => alert === alertname);
      const summary = rule?.annotations.summary.replace('{{ $labels.instance }}', 'n1');
      return { eval_time: '30m', alertname, exp_alerts: [{ exp_labels: { severity, ...labels }, exp_annotations: { summary } }] };
    };
    const silent = (alertname: string) => ({ eval_time: '30m', alertname, exp_alerts: [] });
    const series = (of: Record<string, string>) => Object.entries(of).map(([series, values]) => ({ series, values }));
    const job = 'job="dkc-rollout-controller"';
    const well = series({ [`up{${job}}`]: '1x40', 'leader_election_master_status{name="dkc-rollout",pod="a"}': '1x40', 'leader_election_master_status{name="dkc-rollout",pod="b"}': '0x40', 'dkc_agent_kubelet_unhealthy{instance="n1"}': '0x40', 'dkc_agent_drift{instance="n1",kind="file"}': '0x40', 'kubelet_node_config_error{instance="n1"}': '0x40', [`rest_client_requests_total{${job},code="200"}`]: '0+60x40', [`rest_client_requests_total{${job},code="403"}`]: '0x40', [`workqueue_unfinished_work_seconds{${job}}`]: '1x40' }); // prettier-ignore
    const badly = series({ 'leader_election_master_status{name="dkc-rollout",pod="a"}': '1x40', 'leader_election_master_status{name="dkc-rollout",pod="b"}': '1x40', 'dkc_agent_kubelet_unhealthy{instance="n1"}': '1x40', 'dkc_agent_drift{instance="n1",kind="file"}': '1x40', 'kubelet_node_config_error{instance="n1"}': '1x40', [`rest_client_requests_total{${job},code="<error>"}`]: '0+60x40', [`rest_client_requests_total{${job},code="403"}`]: '0+1x40', [`workqueue_unfinished_work_seconds{${job}}`]: '400x40' }); // prettier-ignore
    const instance = { instance: 'n1' };
    const tests = [
      {
        interval: '1m',
        input_series: well,
        alert_rule_test: all.map(({ alert }) => silent(alert)),
      },
      {
        interval: '1m',
        input_series: badly,
        alert_rule_test: [
          fires('DkcControllersDown', {}, 'critical'),
          fires('DkcNoLeader', {}, 'critical'),
          fires('DkcQueueStuck', {}, 'warning'),
          fires('DkcForbidden', {}, 'warning'),
          fires('DkcApiErrors', {}, 'warning'),
          fires('DkcKubeletUnhealthy', instance, 'critical'),
          fires('DkcConfigError', instance, 'warning'),
          fires('DkcDrift', instance, 'warning'),
        ],
      },
    ];
    assert.equal(tests[1]?.alert_rule_test.length, all.length, 'each alert fires in one of these');
    await writeFile(join(home, 'tests.yaml'), stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    const run = promisify(execFile);
    await run(PROMTOOL, ['check', 'rules', join(home, 'rules.yaml')]);
    await run(PROMTOOL, ['test', 'rules', join(home, 'tests.yaml')]);
  });
});
