import { LEASE, rolloutWorkload, WORKLOAD } from './controllers.ts';
import { SYSTEM_NAMESPACE } from './names.ts';
import { labelsOf } from './workload.ts';
import type { KubeObject } from '../kube/api/object.ts';

const API_VERSION = 'monitoring.coreos.com/v1';
const metadata = { name: WORKLOAD, namespace: SYSTEM_NAMESPACE, labels: labelsOf(rolloutWorkload) };

interface Alert {
  alert: string;
  expr: string;
  for: string;
  severity: 'critical' | 'warning';
  summary: string;
}

const alerts: readonly Alert[] = [
  { alert: 'DkcControllersDown', expr: `absent(up{job="${WORKLOAD}"} == 1)`, for: '5m', severity: 'critical', summary: 'No rollout controller can be scraped: rollouts stand still, nodes keep their configuration' },
  { alert: 'DkcNoLeader', expr: `sum(leader_election_master_status{name="${LEASE}"}) != 1`, for: '2m', severity: 'critical', summary: 'No rollout controller leads, or two believe that they do' },
  { alert: 'DkcQueueStuck', expr: `max(workqueue_unfinished_work_seconds{job="${WORKLOAD}"}) > 300`, for: '5m', severity: 'warning', summary: 'One pass of a controller has lasted for more than five minutes' },
  { alert: 'DkcForbidden', expr: `sum(increase(rest_client_requests_total{job="${WORKLOAD}",code="403"}[10m])) > 0`, for: '10m', severity: 'warning', summary: 'The rollout controller lacks a right; its /readyz names it' },
  { alert: 'DkcApiErrors', expr: `sum(rate(rest_client_requests_total{job="${WORKLOAD}",code=~"5..|<error>"}[5m])) > 0.1`, for: '10m', severity: 'warning', summary: 'The API server fails or does not answer the rollout controller' },
  { alert: 'DkcKubeletUnhealthy', expr: 'dkc_agent_kubelet_unhealthy == 1', for: '5m', severity: 'critical', summary: 'The kubelet of {{ $labels.instance }} does badly under a configuration that is trusted or local' },
  { alert: 'DkcConfigError', expr: 'kubelet_node_config_error == 1', for: '5m', severity: 'warning', summary: '{{ $labels.instance }} does not use the configuration that it is assigned' },
  { alert: 'DkcDrift', expr: 'max by (instance) (dkc_agent_drift) == 1', for: '15m', severity: 'warning', summary: '{{ $labels.instance }} runs something else than its agent wrote' },
]; // prettier-ignore

/** What a Prometheus reads as a file of rules. */
export const alertRules = {
  groups: [
    {
      name: 'dkc',
      rules: alerts.map(({ severity, summary, ...rule }) => ({ ...rule, labels: { severity }, annotations: { summary } })),
    },
  ],
};

/** For clusters with the definitions of the Prometheus operator: whom to scrape, and when to call somebody. */
export const monitoring: readonly KubeObject[] = [
  {
    apiVersion: API_VERSION,
    kind: 'ServiceMonitor',
    metadata,
    spec: { selector: { matchLabels: labelsOf(rolloutWorkload) }, endpoints: [{ port: 'metrics', interval: '30s' }] },
  },
  { apiVersion: API_VERSION, kind: 'PrometheusRule', metadata, spec: alertRules },
];
