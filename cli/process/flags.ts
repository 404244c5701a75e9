import type { Flag } from '../command.ts';

export const kubeconfigFlag: Flag = {
  name: 'kubeconfig',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'path to the kubeconfig; $KUBECONFIG is ignored',
  defaultText: "the pod's service account",
};

/** Called as those of Kubernetes' own components, so that their manifests can be carried over. @param name - of the lease, by default */
export const leaseFlags = (name: string): readonly Flag[] => [
  {
    name: 'leader-elect',
    type: 'boolean',
    default: true,
    text: 'work only while holding the lease; false only if there is a single process',
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    value: 'NAME',
    default: 'kube-system',
    text: 'namespace of the lease',
  },
  { name: 'leader-elect-resource-name', type: 'string', value: 'NAME', default: name, text: 'name of the lease' },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    text: 'time after the last renewal before a standby may take the lease',
  },
  { name: 'leader-elect-renew-deadline', type: 'duration', default: '10s', text: 'how long the leader works without renewing the lease' },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    text: 'interval between renewals, and between attempts of standbys',
  },
];

/** What is seen of the process. @param port - of its own, so that it can be scraped and probed without a flag */
export const servingFlags = (port: number): readonly Flag[] => [
  {
    name: 'metrics-bind-address',
    type: 'string',
    value: 'HOST:PORT',
    default: `127.0.0.1:${port}`,
    text: 'address of /metrics, /healthz and /readyz; port 0 = any free port, empty = off',
  },
  { name: 'debug', type: 'boolean', text: 'serve profiles and the state of queues and caches under /debug, on loopback only' },
  {
    name: 'log-format',
    type: 'string',
    choices: ['text', 'json'],
    default: 'text',
    text: 'log format; under systemd, text has journald levels',
  },
  { name: 'verbosity', alias: 'v', type: 'count', text: 'more log output' },
];
