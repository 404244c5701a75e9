import { LEASE, SCHEDULER, schedulerWorkload, SETS, setsWorkload, WORKLOAD } from './deployments.ts';

export interface Query {
  /** PromQL. */
  expr: string;
  /** Name of a line, with labels in braces. */
  legend: string;
  /** Why the query may have no result in a healthy cluster. */
  emptyWhile?: string;
}

interface Panel {
  title: string;
  /** What the panel shows. */
  text: string;
  /** Unit of Grafana: `s`, `bytes`, `percentunit`, `short`, `reqps`. */
  unit: string;
  queries: readonly Query[];
}

interface Row {
  title: string;
  panels: readonly Panel[];
}

/** Matcher of all processes of dkc in the cluster: the job of a target is the name of its Service. */
export const JOBS = `job=~"${[WORKLOAD, SCHEDULER, SETS].join('|')}"`;

/** Names of their leases, as a pattern. */
export const LEASES = [LEASE, schedulerWorkload.lease, setsWorkload.lease].join('|');

const p99 = (metric: string, by: string, matcher: string): string =>
  `histogram_quantile(0.99, sum by (${by}, le) (rate(${metric}_bucket{${matcher}}[5m])))`;
const one = (expr: string, legend: string, emptyWhile?: string): Query[] => [
  { expr, legend, ...(emptyWhile === undefined ? {} : { emptyWhile }) },
];
const ofScheduler = `job="${SCHEDULER}"`;
const NO_ROLLOUTS = 'there are no rollouts';
const NEVER = 'nothing of that kind has happened since the process started';

/** The panels, beginning with the most frequent causes of problems in the others. */
export const rows: readonly Row[] = [
  {
    title: 'Processes',
    panels: [
      { title: 'Leaders', text: 'Leaders per lease: 1 is normal; 0: no process works; 2: two processes claim to be the leader', unit: 'short', queries: one(`sum by (name) (leader_election_master_status{name=~"${LEASES}"})`, '{{name}}') },
      { title: 'Up', text: 'Processes that Prometheus can scrape', unit: 'short', queries: one(`sum by (job) (up{${JOBS}})`, '{{job}}') },
      { title: 'Memory', text: 'Resident memory; grows with the number of objects in the cluster, not with time', unit: 'bytes', queries: one(`process_resident_memory_bytes{${JOBS}}`, '{{job}} {{instance}}') },
      { title: 'CPU', text: 'CPU cores in use', unit: 'short', queries: one(`rate(process_cpu_seconds_total{${JOBS}}[5m])`, '{{job}} {{instance}}') },
      { title: 'Event loop', text: 'Share of time in which the event loop is busy; at 100% all work is delayed', unit: 'percentunit', queries: one(`nodejs_eventloop_utilization{${JOBS}}`, '{{job}} {{instance}}') },
    ],
  },
  {
    title: 'Rollouts',
    panels: [
      { title: 'Phases', text: 'Phase of each rollout, and why: what it waits for, or Failures or Aborted where it has stopped', unit: 'short', queries: one('max by (rollout, phase, reason) (rollout_controller_rollout_phase)', '{{rollout}}: {{phase}} {{reason}}', NO_ROLLOUTS) },
      { title: 'Settled', text: 'Share of the nodes of each rollout that are settled', unit: 'percentunit', queries: one('max by (rollout) (rollout_controller_rollout_nodes{state="settled"}) / max by (rollout) (rollout_controller_rollout_nodes{state="selected"} > 0)', '{{rollout}}', NO_ROLLOUTS) },
      { title: 'In flight and failed', text: 'Nodes of each rollout that are on their way to the revision, have failed, or whose kubelet would reject it', unit: 'short', queries: one('max by (rollout, state) (rollout_controller_rollout_nodes{state=~"inFlight|failed|refused"})', '{{rollout}} {{state}}', NO_ROLLOUTS) },
    ],
  },
  {
    title: 'API server',
    panels: [
      { title: 'Requests', text: 'Requests per second by HTTP status; <error>: the API server did not answer', unit: 'reqps', queries: one(`sum by (job, code) (rate(rest_client_requests_total{${JOBS}}[5m]))`, '{{job}} {{code}}') },
      { title: 'Latency, 99th percentile', text: 'Latency of all requests except watches', unit: 's', queries: one(p99('rest_client_request_duration_seconds', 'job, verb', JOBS), '{{job}} {{verb}}') },
      { title: 'Failed lists and watches', text: 'Failed lists and watches of caches, per second', unit: 'short', queries: one(`sum by (job, name) (rate(reflector_failures_total{${JOBS}}[5m])) > 0`, '{{job}} {{name}}', NEVER) },
    ],
  },
  {
    title: 'Controller queues',
    panels: [
      { title: 'Depth', text: 'Objects waiting to be synced; a growing depth means that the controller does not keep up', unit: 'short', queries: one(`sum by (job, name) (workqueue_depth{${JOBS}})`, '{{job}} {{name}}') },
      { title: 'Work, 99th percentile', text: 'Duration of one sync of one object', unit: 's', queries: one(p99('workqueue_work_duration_seconds', 'job, name', JOBS), '{{job}} {{name}}') },
      { title: 'Retries', text: 'Objects that are queued again, per second: after a failure, or to wait for a condition', unit: 'short', queries: one(`sum by (job, name) (rate(workqueue_retries_total{${JOBS}}[5m]))`, '{{job}} {{name}}') },
      { title: 'Skipped syncs', text: 'Syncs skipped, per second, because the cache did not show the last write of the controller yet', unit: 'short', queries: ['rollout', 'daemonset', 'statefulset'].map((kind) => ({ expr: `rate(${kind}_controller_stale_sync_skips_total{${JOBS}}[5m])`, legend: kind, ...(kind === 'rollout' ? {} : { emptyWhile: 'dkc does not run that controller' }) })) },
      { title: 'Fleet page', text: 'Open event streams of the fleet page', unit: 'short', queries: one(`sum by (job) (dkc_page_streams{${JOBS}})`, '{{job}}') },
    ],
  },
  {
    title: 'Scheduler',
    panels: [
      { title: 'Pending pods', text: 'Pending pods by queue; active: waiting for an attempt; backoff: waiting after a failure; unschedulable: no node fits', unit: 'short', queries: one(`sum by (queue) (scheduler_pending_pods{${ofScheduler}})`, '{{queue}}') },
      { title: 'Attempts', text: 'Scheduling attempts per second, by result', unit: 'short', queries: one(`sum by (result) (rate(scheduler_schedule_attempts_total{${ofScheduler}}[5m]))`, '{{result}}') },
      { title: 'Time until bound, 99th percentile', text: 'Time from when a pod enters the queue until it is bound', unit: 's', queries: one(p99('scheduler_pod_scheduling_sli_duration_seconds', 'job', ofScheduler), 'all') },
      { title: 'Binding, 99th percentile', text: 'Duration of a binding cycle: the API server and volumes', unit: 's', queries: one(p99('scheduler_binding_duration_seconds', 'result', ofScheduler), '{{result}}') },
      { title: 'Cluster', text: 'Nodes and pods in the scheduler cache', unit: 'short', queries: one(`max by (type) (scheduler_cache_size{${ofScheduler}})`, '{{type}}') },
      { title: 'Reservations', text: 'Reservations held on nodes for pods that a rolling update creates again', unit: 'short', queries: one(`sum(reservations_active{${ofScheduler}})`, 'held') },
    ],
  },
  {
    title: 'Nodes (where agents are scraped)',
    panels: [
      { title: 'Nodes by configuration', text: 'Nodes by the configuration that they use', unit: 'short', queries: one('count by (node_config_source, node_config_kubelet_key) (kubelet_node_config_active)', '{{node_config_source}} {{node_config_kubelet_key}}') },
      { title: 'Nodes with problems', text: 'Nodes with a configuration error, an unhealthy kubelet, or drift', unit: 'short', queries: [...one('sum(kubelet_node_config_error)', 'error'), ...one('sum(dkc_agent_kubelet_unhealthy)', 'unhealthy'), ...one('sum by (kind) (dkc_agent_drift)', 'drift {{kind}}')] },
      { title: 'On trial', text: 'Healthy time so far, per node on trial', unit: 's', queries: one('dkc_agent_trial_healthy_seconds > 0', '{{instance}}', 'no node is on trial') },
      { title: 'Transitions', text: 'Transitions in the journals of all nodes, by event', unit: 'short', queries: one('sum by (event) (dkc_agent_transitions)', '{{event}}') },
      { title: 'Syncs', text: 'Syncs of agents per second, by result', unit: 'short', queries: one('sum by (result) (rate(dkc_agent_sync_runs_total[5m]))', '{{result}}') },
    ],
  },
]; // prettier-ignore

const datasource = { type: 'prometheus', uid: '${datasource}' };
/** In units of Grafana's grid, which has 24 columns. */
const [WIDTH, HEIGHT] = [8, 8];

/** As Grafana 10 and newer import it. */
function board(): object {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: inside } of rows) {
    panels.push({ id: panels.length + 1, type: 'row', title, collapsed: false, gridPos: { x: 0, y, w: 24, h: 1 }, panels: [] });
    y += 1;
    for (const [n, { title, text, unit, queries }] of inside.entries())
      panels.push({
        id: panels.length + 1,
        type: 'timeseries',
        title,
        description: text,
        datasource,
        gridPos: { x: (n % 3) * WIDTH, y: y + Math.floor(n / 3) * HEIGHT, w: WIDTH, h: HEIGHT },
        fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
        options: { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
        targets: queries.map(({ expr, legend }, i) => ({ refId: String.fromCodePoint(65 + i), datasource, expr, legendFormat: legend })),
      });
    y += Math.ceil(inside.length / 3) * HEIGHT;
  }
  return {
    uid: 'dkc',
    title: 'Dynamic Kubelet Config',
    tags: ['dkc'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }] },
    panels,
  };
}

/** The dashboard as JSON. */
export const boardText = `${JSON.stringify(board(), null, 1)}\n`;
