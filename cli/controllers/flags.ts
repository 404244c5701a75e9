import { kubeconfigFlag, leaseFlags, servingFlags } from '../process/flags.ts';
import { controllerNames } from './names.ts';
import type { Flag } from '../command.ts';

/** Flags of `dkc controllers run`. */
export const controllersFlags: readonly Flag[] = [
  {
    name: 'controllers',
    type: 'string',
    value: 'LIST',
    default: controllerNames.join(','),
    offers: controllerNames,
    text: 'controllers to run, comma-separated',
  },
  kubeconfigFlag,
  { name: 'namespace', type: 'string', value: 'NAME', text: 'only objects in this namespace', defaultText: 'all' },
  {
    name: 'object-selector',
    type: 'string',
    value: 'SELECTOR',
    text: 'only objects with these labels',
    defaultText: 'all',
  },
  { name: 'concurrent-syncs', type: 'number', value: 'N', default: 5, text: 'sets of each kind that are synced concurrently' },
  {
    name: 'daemonset-placement',
    type: 'string',
    value: 'WHO',
    choices: ['scheduler', 'controller'],
    default: 'scheduler',
    text: 'who binds DaemonSet pods to their nodes',
  },
  { name: 'resync', type: 'duration', default: '0s', text: 'how often to sync every object again; 0 = only when something changes' },
  ...leaseFlags('dkc-controllers'),
  ...servingFlags(10_461),
];
