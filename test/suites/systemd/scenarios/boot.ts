import { setTimeout as sleep } from 'node:timers/promises';
import { EFFECTIVE, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { scenario } from '../inside/scenario.ts';
import { property, systemctl } from '../inside/systemctl.ts';

export interface BootResult {
  starts: unknown[];
  /** The file that the kubelet was started with is the effective one. */
  same: boolean;
  /** State of the agent once the kubelet is up. */
  agent: string;
  /** From the start of systemd to the start of the first kubelet, in ms. */
  kubeletAfterMs: number;
}

/** Looks at a machine on which the boot has started agent and kubelet, and nobody else anything. */
await scenario(async (): Promise<BootResult> => {
  const first = await kubeletStart(1);
  // Long enough for a restart too many to show up.
  await sleep(2000);
  const systemd = Number(systemctl('show', '-P', 'UserspaceTimestampMonotonic'));
  const kubelet = Number(property('kubelet.service', 'ExecMainStartTimestampMonotonic'));
  return {
    starts: kubeletStarts().map(({ maxPods }) => maxPods),
    same: first.sha256 === sha256Of(EFFECTIVE),
    agent: property('dkc-agent.service', 'SubState'),
    kubeletAfterMs: Math.round((kubelet - systemd) / 1000),
  };
});
