import { LEASE, WORKLOAD } from './controllers.ts';
import { SCHEDULER, schedulerWorkload } from './scheduler.ts';
import { SETS, setsWorkload } from './sets.ts';

export interface Alert {
  alert: string;
  expr: string;
  for: string;
  severity: 'critical' | 'warning';
  /** What it means, for who is woken up. */
  summary: string;
  /** What to do. */
  description: string;
}

/** Matcher of all processes of dkc in the cluster: a Service's name is the job of what it leads to. */
export const JOBS = `job=~"${[WORKLOAD, SCHEDULER, SETS].join('|')}"`;
const leases = [LEASE, schedulerWorkload.lease, setsWorkload.lease].join('|');
/** Matcher of what need not be there, and of which nothing is missed where it is not. */
const optional = `job=~"${SCHEDULER}|${SETS}"`;
const failedSyncs = (result: string): string => `sum by (instance) (increase(dkc_agent_sync_runs_total{result="${result}"}[30m])) > 0`;

/** When to call somebody. The last ones need a Prometheus that scrapes the agents. */
export const alerts: readonly Alert[] = [
  { alert: 'DkcControllersDown', expr: `absent(up{job="${WORKLOAD}"} == 1)`, for: '5m', severity: 'critical', summary: 'No rollout controller can be scraped: rollouts stand still, nodes keep their configuration', description: `kubectl -n dkc-system get pods and logs deployment/${WORKLOAD}; is the Deployment there, and its image?` },
  { alert: 'DkcWorkloadDown', expr: `sum by (job) (up{${optional}}) == 0`, for: '5m', severity: 'critical', summary: 'No process of {{ $labels.job }} can be scraped: pods that wait for it stay as they are', description: 'kubectl -n dkc-system get pods, and the logs of the Deployment with this name' },
  { alert: 'DkcNoLeader', expr: `sum by (name) (leader_election_master_status{name=~"${leases}"}) != 1`, for: '2m', severity: 'critical', summary: 'Nobody holds the lease {{ $labels.name }}, or two believe that they do', description: 'kubectl -n dkc-system describe lease with this name; the logs say why it cannot be renewed' },
  { alert: 'DkcQueueStuck', expr: `max by (job, name) (workqueue_unfinished_work_seconds{${JOBS}}) > 300`, for: '5m', severity: 'warning', summary: 'One pass of {{ $labels.name }} in {{ $labels.job }} has lasted for more than five minutes', description: 'Its log says what it waits for; a restart of the pod begins anew' },
  { alert: 'DkcForbidden', expr: `sum by (job) (increase(rest_client_requests_total{${JOBS},code="403"}[10m])) > 0`, for: '10m', severity: 'warning', summary: '{{ $labels.job }} lacks a right; its /readyz names it', description: 'Apply the manifests of this version again; a configuration that uses more needs more rights' },
  { alert: 'DkcApiErrors', expr: `sum by (job) (rate(rest_client_requests_total{${JOBS},code=~"5..|<error>"}[5m])) > 0.1`, for: '10m', severity: 'warning', summary: 'The API server fails or does not answer {{ $labels.job }}', description: 'Look at the API server and the network in between; dkc goes on by itself' },
  { alert: 'DkcRestarting', expr: `max by (job, instance) (changes(process_start_time_seconds{${JOBS}}[30m])) > 3`, for: '1m', severity: 'warning', summary: '{{ $labels.instance }} of {{ $labels.job }} has started four times in half an hour', description: 'kubectl -n dkc-system logs --previous: a lost lease, too little memory, or a wrong configuration' },
  { alert: 'DkcSchedulingErrors', expr: `sum(rate(scheduler_schedule_attempts_total{job="${SCHEDULER}",result="error"}[5m])) > 0.1`, for: '10m', severity: 'warning', summary: 'Attempts to schedule pods fail, other than for want of a place', description: 'The log of dkc-scheduler names the pod and the cause: the API server, a volume, an extender' },
  { alert: 'DkcSchedulerBehind', expr: `sum(scheduler_pending_pods{job="${SCHEDULER}",queue="active"}) > 100`, for: '15m', severity: 'warning', summary: 'More than a hundred pods have waited to be tried for a quarter of an hour', description: 'Is the API server slow, or the process short of CPU? See the panels of the scheduler' },
  { alert: 'DkcKubeletUnhealthy', expr: 'dkc_agent_kubelet_unhealthy == 1', for: '5m', severity: 'critical', summary: 'The kubelet of {{ $labels.instance }} does badly under a configuration that is trusted or local', description: 'On the node: dkc status, journalctl -u kubelet. It is not the configuration, so nothing is rolled back' },
  { alert: 'DkcConfigError', expr: 'kubelet_node_config_error == 1', for: '5m', severity: 'warning', summary: '{{ $labels.instance }} does not use the configuration that it is assigned', description: 'On the node: dkc status and dkc history. Assign a fixed configuration, or try this one again with dkc retry' },
  { alert: 'DkcDrift', expr: 'max by (instance) (dkc_agent_drift) == 1', for: '15m', severity: 'warning', summary: '{{ $labels.instance }} runs something else than its agent wrote', description: 'On the node: dkc status says what differs and how to undo it' },
  { alert: 'DkcAgentCannotSync', expr: `${failedSyncs('failed')} unless ${failedSyncs('ok')}`, for: '15m', severity: 'warning', summary: 'The agent of {{ $labels.instance }} learns nothing of what it is assigned; its node keeps its configuration', description: 'On the node: dkc doctor, journalctl -u dkc-agent' },
]; // prettier-ignore
