import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { alertRules } from '../../../deploy/monitoring.ts';
import { onPath } from '../../support/real-parts/prometheus.ts';
import { orSkip } from './suite.ts';

const promtool = await onPath('promtool');
orSkip(promtool === undefined ? "alert rules are tried with promtool, of Debian's package prometheus" : undefined, 'alert rules', () => {
  test('each fires where it should, and none in a healthy cluster', async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'dkc-alerts-'));
    t.after(() => rm(home, { recursive: true }));
    await writeFile(join(home, 'rules.yaml'), stringify(alertRules));
    const all = alertRules.groups.flatMap(({ rules }) => rules);
    const expected = (alertname: string, severity: string, labels: Record<string, string>) => {
      const rule = all.find(({ alert }) => alert === alertname);
      const filled = (text = ''): string => text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '');
      const annotations = { summary: filled(rule?.annotations.summary), description: filled(rule?.annotations.description) };
      return { exp_labels: { severity, ...labels }, exp_annotations: annotations };
    };
    const rows = (eval_time: string, alertname: string, severity: string, ...of: readonly Record<string, string>[]) => ({
      eval_time,
      alertname,
      exp_alerts: of.map((labels) => expected(alertname, severity, labels)),
    });
    const fires = (alertname: string, labels: Record<string, string>, severity: string) => rows('30m', alertname, severity, labels);
    const firesFor = (alertname: string, ...of: readonly Record<string, string>[]) => rows('150m', alertname, 'warning', ...of);
    const series = (of: Record<string, string>) => Object.entries(of).map(([series, values]) => ({ series, values }));
    const job = 'job="dkc-rollout-controller"';
    const scheduler = 'job="dkc-scheduler",instance="s1"';
    const leads = (pod: string): string => `leader_election_master_status{name="dkc-rollout",pod="${pod}"}`;
    const agent = 'instance="n1"';
    const phase = (rollout: string, of: string, reason = ''): string =>
      `rollout_controller_rollout_phase{${job},rollout="${rollout}",phase="${of}",reason="${reason}"}`;
    const settled = (rollout: string): string => `rollout_controller_rollout_nodes{${job},rollout="${rollout}",state="settled"}`;
    const well = series({
      [`up{${job}}`]: '1x40',
      [`up{${scheduler}}`]: '1x40',
      [leads('a')]: '1x40',
      [leads('b')]: '0x40',
      [`rest_client_requests_total{${job},code="200"}`]: '0+60x40',
      [`rest_client_requests_total{${job},code="403"}`]: '0x40',
      [`workqueue_unfinished_work_seconds{${job},name="rollout"}`]: '1x40',
      [`process_start_time_seconds{${scheduler}}`]: '1000x20 2000x20',
      [phase('web', 'Progressing')]: '1x40',
      [settled('web')]: '0+1x40',
      [phase('db', 'RolledBack', 'Aborted')]: '1x40',
      [settled('db')]: '0x40',
      [phase('pool', 'Holding', 'Approval')]: '1x40',
      [settled('pool')]: '1x40',
      [`scheduler_schedule_attempts_total{${scheduler},result="scheduled"}`]: '0+600x40',
      [`scheduler_schedule_attempts_total{${scheduler},result="error"}`]: '0+1x40',
      [`scheduler_pending_pods{${scheduler},queue="active"}`]: '100x40',
      [`scheduler_pending_pods{${scheduler},queue="unschedulable"}`]: '1000x40',
      [`dkc_agent_kubelet_unhealthy{${agent}}`]: '0x40',
      [`dkc_agent_drift{${agent},kind="file"}`]: '0x40',
      [`kubelet_node_config_error{${agent}}`]: '0x40',
      [`dkc_agent_sync_runs_total{${agent},result="ok"}`]: '0+1x40',
      [`dkc_agent_sync_runs_total{${agent},result="failed"}`]: '0+1x40',
    });
    const badly = series({
      [`up{${scheduler}}`]: '0x40',
      [leads('a')]: '1x40',
      [leads('b')]: '1x40',
      [`rest_client_requests_total{${job},code="<error>"}`]: '0+60x40',
      [`rest_client_requests_total{${job},code="403"}`]: '0+1x40',
      [`workqueue_unfinished_work_seconds{${job},name="rollout"}`]: '400x40',
      [`process_start_time_seconds{${scheduler}}`]: '0+60x40',
      [`scheduler_schedule_attempts_total{${scheduler},result="error"}`]: '0+60x40',
      [`scheduler_pending_pods{${scheduler},queue="active"}`]: '101x40',
      [`dkc_agent_kubelet_unhealthy{${agent}}`]: '1x40',
      [`dkc_agent_drift{${agent},kind="file"}`]: '1x40',
      [`kubelet_node_config_error{${agent}}`]: '1x40',
      [`dkc_agent_sync_runs_total{${agent},result="ok"}`]: '5x40',
      [`dkc_agent_sync_runs_total{${agent},result="failed"}`]: '0+1x40',
    });
    // A rollout whose rollback goes from phase to phase has one alert; web is stuck for longer than an hour.
    const stopped = series({
      [phase('web', 'Progressing')]: '1x160',
      [settled('web')]: '0+1x10 10x150',
      [phase('db', 'RollingBack', 'Failures')]: '1x140 _x20',
      [phase('db', 'RolledBack', 'Failures')]: '_x141 1x20',
      [settled('db')]: '200-1x160',
      [phase('late', 'Complete', 'Failures')]: '1x160',
      [settled('late')]: '1x160',
      [phase('new', 'Pending', 'Preflight')]: '1x160',
      [settled('new')]: '0x160',
    });
    const controller = { job: 'dkc-rollout-controller' };
    const instance = { instance: 'n1' };
    const tests = [
      { interval: '1m', input_series: well, alert_rule_test: all.map(({ alert }) => rows('30m', alert, '')) },
      {
        interval: '1m',
        input_series: badly,
        alert_rule_test: [
          fires('DkcControllersDown', {}, 'critical'),
          fires('DkcWorkloadDown', { job: 'dkc-scheduler' }, 'critical'),
          fires('DkcNoLeader', { name: 'dkc-rollout' }, 'critical'),
          fires('DkcQueueStuck', { ...controller, name: 'rollout' }, 'warning'),
          fires('DkcForbidden', controller, 'warning'),
          fires('DkcApiErrors', controller, 'warning'),
          fires('DkcRestarting', { job: 'dkc-scheduler', instance: 's1' }, 'warning'),
          fires('DkcSchedulingErrors', {}, 'warning'),
          fires('DkcSchedulerBehind', {}, 'warning'),
          fires('DkcKubeletUnhealthy', instance, 'critical'),
          fires('DkcConfigError', instance, 'warning'),
          fires('DkcDrift', instance, 'warning'),
          fires('DkcAgentCannotSync', instance, 'warning'),
        ],
      },
      {
        interval: '1m',
        input_series: stopped,
        alert_rule_test: [
          firesFor('DkcRolloutStopped', { rollout: 'db' }, { rollout: 'late' }),
          firesFor('DkcRolloutBlocked', { rollout: 'new', reason: 'Preflight' }),
          firesFor('DkcRolloutStuck', { rollout: 'web' }),
        ],
      },
    ];
    assert.equal(tests.slice(1).flatMap(({ alert_rule_test: of }) => of).length, all.length, 'each alert fires in one of these');
    await writeFile(join(home, 'tests.yaml'), stringify({ rule_files: ['rules.yaml'], evaluation_interval: '1m', tests }));
    for (const [word, file] of [
      ['check', 'rules.yaml'],
      ['test', 'tests.yaml'],
    ] as const)
      // prettier-ignore
      await promisify(execFile)(promtool ?? '', [word, 'rules', join(home, file)]);
  });
});
