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
    text: 'which ones, separated by commas',
  },
  kubeconfigFlag,
  { name: 'namespace', type: 'string', value: 'NAME', text: 'only what is in this namespace', defaultText: 'all' },
  {
    name: 'object-selector',
    type: 'string',
    value: 'SELECTOR',
    text: "only objects with these labels; the others are somebody else's",
    defaultText: 'all',
  },
  { name: 'concurrent-syncs', type: 'number', value: 'N', default: 5, text: 'sets of each kind that are worked on at once' },
  {
    name: 'daemonset-placement',
    type: 'string',
    value: 'WHO',
    choices: ['scheduler', 'controller'],
    default: 'scheduler',
    text: 'who puts pods of DaemonSets on their nodes',
  },
  { name: 'resync', type: 'duration', default: '0s', text: 'look at every object again so often; 0 = when something changes' },
  ...leaseFlags('dkc-controllers'),
  ...servingFlags(10_461),
];
