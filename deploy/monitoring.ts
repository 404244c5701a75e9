import { boardText } from './board.ts';
import { SYSTEM_NAMESPACE } from './names.ts';
import type { KubeObject } from '../kube/api/object.ts';
import { alerts } from './alerts.ts';

const API_VERSION = 'monitoring.coreos.com/v1';

const NAME = 'dkc';

const label = { 'app.kubernetes.io/name': 'dkc' };

const metadata = { name: NAME, namespace: SYSTEM_NAMESPACE, labels: label };

/** What a Prometheus reads as a file of rules. */
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

/** For clusters with the definitions of the Prometheus operator: whom to scrape, when to call somebody, and a board for Grafana's sidecar. */
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
