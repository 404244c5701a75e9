import type { Flag } from '../command.ts';

export const kubeconfigFlag: Flag = {
  name: 'kubeconfig',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'how to reach the API server; $KUBECONFIG is not read',
  defaultText: "in a pod, its service account's token",
};

/** Called as those of Kubernetes' own components, so that their manifests can be carried over. @param name - of the lease, by default */
export const leaseFlags = (name: string): readonly Flag[] => [
  {
    name: 'leader-elect',
    type: 'boolean',
    default: true,
    text: 'work only while holding the lease; false is for one process that is alone',
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    value: 'NAME',
    default: 'kube-system',
    text: 'namespace of the lease',
  },
  { name: 'leader-elect-resource-name', type: 'string', value: 'NAME', default: name, text: 'name of the lease' },
  { name: 'leader-elect-lease-duration', type: 'duration', default: '15s', text: 'how long others wait after its last sign of life' },
  { name: 'leader-elect-renew-deadline', type: 'duration', default: '10s', text: 'how long it works on without having renewed the lease' },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    text: 'time between renewals, and between looks of those who wait',
  },
];

/** What is seen of the process. @param port - of its own, so that it can be scraped and probed without a flag */
export const servingFlags = (port: number): readonly Flag[] => [
  {
    name: 'metrics-bind-address',
    type: 'string',
    value: 'HOST:PORT',
    default: `127.0.0.1:${port}`,
    text: 'where /metrics, /healthz and /readyz are served; port 0 takes any free one, empty = off',
  },
  { name: 'debug', type: 'boolean', text: 'serve profiles and the state of queues and caches under /debug, on loopback only' },
  {
    name: 'log-format',
    type: 'string',
    choices: ['text', 'json'],
    default: 'text',
    text: 'lines for people, with levels for the journal under systemd; or JSON',
  },
  { name: 'verbosity', alias: 'v', type: 'count', text: 'say more in the log' },
];
