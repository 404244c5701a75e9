import type { Flag } from '../command.ts';

/** How a command reaches the API server: kubectl's flags of these names. */
export const connectFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'path to the kubeconfig',
    defaultText: '$KUBECONFIG, then ~/.kube/config',
  },
  {
    name: 'context',
    type: 'string',
    value: 'NAME',
    completes: 'context',
    text: 'kubeconfig context to use',
    defaultText: 'the current context',
  },
  { name: 'as', type: 'string', value: 'USER', text: 'user to impersonate' },
  { name: 'request-timeout', type: 'duration', value: 'TIME', text: 'timeout of a single API request', defaultText: '30s' },
];

/** Beside {@link connectFlags}, for what lives in namespaces. */
export const namespaceFlag: Flag = {
  name: 'namespace',
  alias: 'n',
  type: 'string',
  value: 'NS',
  text: 'namespace of objects named without one',
  defaultText: "the context's, then default",
};
