import { boardText, JOBS, LEASES } from './board.ts';
import { SCHEDULER, SETS, WORKLOAD } from './deployments.ts';
import { SYSTEM_NAMESPACE } from './rights.ts';
import type { KubeObject } from '../kube/api/object.ts';

interface Alert {
  alert: string;
  expr: string;
  for: string;
  severity: 'critical' | 'warning';
  /** What the alert means, for the person on call. */
  summary: string;
  /** What to do. */
  description: string;
}

/** Matcher of optional workloads: their absence is no problem. */
const optional = `job=~"${SCHEDULER}|${SETS}"`;

const failedSyncs = (result: string): string => `sum by (instance) (increase(dkc_agent_sync_runs_total{result="${result}"}[30m])) > 0`;

/** The alerts. The last ones need a Prometheus that scrapes the agents. */
export const alerts: readonly Alert[] = [
  { alert: 'DkcControllersDown', expr: `absent(up{job="${WORKLOAD}"} == 1)`, for: '5m', severity: 'critical', summary: 'Prometheus cannot scrape any rollout controller; rollouts do not progress, nodes keep their configuration', description: `Check that Deployment dkc-system/${WORKLOAD} exists and that its image can be pulled: kubectl -n dkc-system get pods; kubectl -n dkc-system logs deployment/${WORKLOAD}` },
  { alert: 'DkcWorkloadDown', expr: `sum by (job) (up{${optional}}) == 0`, for: '5m', severity: 'critical', summary: 'Prometheus cannot scrape any pod of {{ $labels.job }}; what it manages (pods to schedule, or DaemonSets and StatefulSets) does not change', description: 'kubectl -n dkc-system get pods; kubectl -n dkc-system logs deployment/{{ $labels.job }}' },
  { alert: 'DkcNoLeader', expr: `sum by (name) (leader_election_master_status{name=~"${LEASES}"}) != 1`, for: '2m', severity: 'critical', summary: 'No process, or more than one, claims to be the leader of lease {{ $labels.name }}', description: 'kubectl -n dkc-system describe lease {{ $labels.name }}; the logs of the pods show why the lease cannot be renewed' },
  { alert: 'DkcQueueStuck', expr: `max by (job, name) (workqueue_unfinished_work_seconds{${JOBS}}) > 300`, for: '5m', severity: 'warning', summary: 'One sync of queue {{ $labels.name }} in {{ $labels.job }} has been running for more than five minutes', description: 'The log of the pod shows what the sync waits for; if it does not finish, restart the pod' },
  { alert: 'DkcForbidden', expr: `sum by (job) (increase(rest_client_requests_total{${JOBS},code="403"}[10m])) > 0`, for: '10m', severity: 'warning', summary: 'The API server answers requests of {{ $labels.job }} with 403 Forbidden; its /readyz names the missing right', description: 'Apply the manifests of this version again (dkc deploy manifests); settings that read further kinds need further RBAC rules' },
  { alert: 'DkcApiErrors', expr: `sum by (job) (rate(rest_client_requests_total{${JOBS},code=~"5..|<error>"}[5m])) > 0.1`, for: '10m', severity: 'warning', summary: 'Requests of {{ $labels.job }} to the API server fail or are not answered', description: 'Check the API server and the network between the two; {{ $labels.job }} retries and needs no restart' },
  { alert: 'DkcRestarting', expr: `max by (job, instance) (changes(process_start_time_seconds{${JOBS}}[30m])) > 3`, for: '1m', severity: 'warning', summary: '{{ $labels.instance }} of {{ $labels.job }} has started four times in half an hour', description: 'kubectl -n dkc-system logs POD --previous; usual causes are a lost lease, too low a memory limit, or an invalid configuration' },
  { alert: 'DkcRolloutStopped', expr: 'max by (rollout) (rollout_controller_rollout_phase{reason="Failures"}) == 1', for: '1m', severity: 'warning', summary: 'Nodes failed in rollout {{ $labels.rollout }}: it has stopped, or, where it was complete, does not touch nodes that join later', description: 'dkc rollout status {{ $labels.rollout }} names the nodes and their errors. Correct the ConfigMap, or dkc rollout undo {{ $labels.rollout }}, or dkc rollout resume {{ $labels.rollout }} --retry' },
  { alert: 'DkcRolloutBlocked', expr: 'max by (rollout, reason) (rollout_controller_rollout_phase{reason=~"Spec|ConfigMap|Revision|Preflight"}) == 1', for: '15m', severity: 'warning', summary: 'Rollout {{ $labels.rollout }} touches no node until it is corrected: {{ $labels.reason }}', description: 'dkc rollout status {{ $labels.rollout }} says what is wrong with its spec or its ConfigMap' },
  { alert: 'DkcRolloutStuck', expr: 'max by (rollout) (changes(rollout_controller_rollout_nodes{state="settled"}[1h])) == 0 and on (rollout) rollout_controller_rollout_phase{phase=~"Progressing|RollingBack"}', for: '1h', severity: 'warning', summary: 'Rollout {{ $labels.rollout }} is under way, and no node of it has settled for an hour', description: 'dkc rollout status {{ $labels.rollout }} says what it waits for: a node that is not Ready, spec.maxUnavailable, or a disruption budget. With nodes or drains that take longer, raise the time of this alert' },
  { alert: 'DkcSchedulingErrors', expr: `sum(rate(scheduler_schedule_attempts_total{job="${SCHEDULER}",result="error"}[5m])) > 0.1`, for: '10m', severity: 'warning', summary: 'Scheduling attempts end in errors, not only because no node fits', description: 'The log of dkc-scheduler names the pod and the cause, such as the API server, a volume or an extender' },
  { alert: 'DkcSchedulerBehind', expr: `sum(scheduler_pending_pods{job="${SCHEDULER}",queue="active"}) > 100`, for: '15m', severity: 'warning', summary: 'More than 100 pods have been in the active queue for 15 minutes: the scheduler does not keep up', description: 'Check the latency of the API server and the CPU limit of dkc-scheduler: row "Scheduler" of the dashboard' },
  { alert: 'DkcKubeletUnhealthy', expr: 'dkc_agent_kubelet_unhealthy == 1', for: '5m', severity: 'critical', summary: 'The kubelet of {{ $labels.instance }} is unhealthy under a configuration that is trusted or local', description: 'On the node: dkc status, journalctl -u kubelet. The configuration is not the likely cause, so the agent does not roll it back' },
  { alert: 'DkcConfigError', expr: 'kubelet_node_config_error == 1', for: '5m', severity: 'warning', summary: '{{ $labels.instance }} does not use its assigned configuration', description: 'On the node: dkc status and dkc history. Assign a fixed configuration, or retry this one with dkc retry' },
  { alert: 'DkcDrift', expr: 'max by (instance) (dkc_agent_drift) == 1', for: '15m', severity: 'warning', summary: 'The kubelet of {{ $labels.instance }} does not run the configuration that its agent wrote', description: 'On the node: dkc status shows what differs and how to correct it' },
  { alert: 'DkcAgentCannotSync', expr: `${failedSyncs('failed')} unless ${failedSyncs('ok')}`, for: '15m', severity: 'warning', summary: 'The agent of {{ $labels.instance }} has not completed a sync for 30 minutes; the node keeps its configuration', description: 'On the node: dkc doctor, journalctl -u dkc-agent' },
]; // prettier-ignore

/** The content of a rule file of Prometheus. */
export const alertRules = {
  groups: [
    {
      name: 'dkc',
      rules: alerts.map(({ severity, summary, description, ...rule }) => ({
        ...rule,
        labels: { severity },
        annotations: { summary, description },
      })),
    },
  ],
};

const API_VERSION = 'monitoring.coreos.com/v1';

const NAME = 'dkc';

const label = { 'app.kubernetes.io/name': 'dkc' };

const metadata = { name: NAME, namespace: SYSTEM_NAMESPACE, labels: label };

/** For clusters with the CRDs of the Prometheus operator: scrape targets, alerts, and a dashboard for Grafana's sidecar. */
export const monitoring: readonly KubeObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'ServiceMonitor',
    metadata,
    spec: { selector: { matchLabels: label }, endpoints: [{ port: 'metrics', interval: '30s' }] },
  },
  { apiVersion: API_VERSION, kind: 'PrometheusRule', metadata, spec: alertRules },
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: 'dkc-board', labels: { ...label, grafana_dashboard: '1' } },
    data: { 'dkc.json': boardText },
  },
];
