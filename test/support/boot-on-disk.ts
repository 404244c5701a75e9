import { memoryLocks } from './memory-locks.ts';
import type { NodeOnDisk } from './node-on-disk.ts';
import { unsyncedDisk } from './unsynced-disk.ts';
import { bootOnce } from '../../agent/agent.ts';
import type { BootOutcome } from '../../agent/boot/plan.ts';
import { agentDefaults, type AgentWorld } from '../../agent/options.ts';
import { realClock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import { silentLog } from '../../base/log.ts';

/** One boot of the agent on `node`, whose kubelet is 1.30 and hands nothing over. */
export function bootOn(node: NodeOnDisk, disk: Disk = unsyncedDisk): Promise<BootOutcome> {
  // All that a boot asks of its world.
  const world = { disk, locks: memoryLocks(), clock: realClock, log: silentLog } as unknown as AgentWorld;
  const options = {
    ...agentDefaults,
    nodeName: 'node-a',
    dynamicConfigDir: node.root,
    localConfig: node.localConfig,
    effectiveConfig: node.paths.effective,
    kubeletUnit: '',
    kubeletVersion: '1.30',
    policy: 'none',
  };
  return bootOnce(options, world);
}
