import { kubeconfigFlag, leaseFlags, servingFlags } from '../process/flags.ts';
import type { Flag } from '../command.ts';

export const configFlag: Flag = {
  name: 'config',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'configuration file, YAML or JSON; every key is optional',
  defaultText: 'all defaults',
};

/** Those of the lease go before the file, so they have no value unless somebody gives one. */
const leaseFlagsOverFile = leaseFlags('dkc-scheduler').map(({ default: normal, ...flag }): Flag => ({
  ...flag,
  defaultText: `as leaderElection in the file says, else ${String(normal)}`,
}));

/** Flags of `dkc scheduler run`. */
export const schedulerFlags: readonly Flag[] = [configFlag, kubeconfigFlag, ...leaseFlagsOverFile, ...servingFlags(10_462)];
