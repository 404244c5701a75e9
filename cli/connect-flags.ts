import type { Flag } from './command.ts';

/** How a command reaches the API server: kubectl's flags of these names. */
export const connectFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'how to reach the API server',
    defaultText: '$KUBECONFIG, then ~/.kube/config',
  },
  {
    name: 'context',
    type: 'string',
    value: 'NAME',
    completes: 'context',
    text: 'context of the kubeconfig',
    defaultText: 'its current one',
  },
  { name: 'as', type: 'string', value: 'USER', text: 'user to impersonate' },
  { name: 'request-timeout', type: 'duration', value: 'TIME', text: 'longest wait for one answer of the API server', defaultText: '30s' },
];

/** Beside {@link connectFlags}, for what lives in namespaces. */
export const namespaceFlag: Flag = {
  name: 'namespace',
  alias: 'n',
  type: 'string',
  value: 'NS',
  text: 'namespace of what is named without one',
  defaultText: "the context's, then default",
};
