import { execFileSync, spawnSync } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeletConfig, kubeletExits, kubeletStarts } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface BrokenDiskResult {
  /** maxPods of the kubelet's starts, one for each run of equal ones. */
  starts: unknown[];
  /** Starts with the killer until the kubelet was back. */
  kills: number;
  /** From the end of the kubelet that reached the limit to the start with the old configuration, in ms. */
  backAfterMs: number;
  /** The same after the agent was restarted on the broken disk. */
  afterRestart: unknown;
  /** Once the disk works: whether the condemnation is on it, and the kubelet is the same process. */
  isWritten: boolean;
  isUntouched: boolean;
}

const DIR = '/var/lib/dkc';
const KILLER = 103;

/** A killer is on trial as the disk of the store gets full. That disk is a file system of its own. */
await scenario(async (): Promise<BrokenDiskResult> => {
  execFileSync('mkdir', ['-p', DIR]);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'mode=700,size=4m', 'disk', DIR]);
  dropIn('kubelet.service', '[Service]\nRestartSec=3s\n');
  const agent = await bothUp('trialDuration: 1s\nsyncInterval: 1s\n');
  await agent.assign(kubeletConfig({ maxPods: 101 }));
  await agent.trusted();
  await agent.assign(kubeletConfig({ maxPods: KILLER, registryPullQPS: 4242 }));
  await eventually('the killer', () => kubeletStarts().some((start) => start.maxPods === KILLER));
  await eventually('an agent on it', () => property('dkc-agent.service', 'SubState') === 'running');
  spawnSync('dd', ['if=/dev/zero', `of=${DIR}/filler`, 'bs=4k'], { stdio: 'ignore' });
  if (statfsSync(DIR).bfree > 0) throw new Error('the disk is not full');
  const last = (): unknown => kubeletStarts().at(-1)?.maxPods;
  await eventually('the way back', () => last() === 101);
  const exits = kubeletExits().filter((exit) => exit.result === 'exit-code');
  const backAfterMs = (kubeletStarts().at(-1)?.at ?? 0) - Date.parse(exits.at(-1)?.time ?? '');
  await settled();
  systemctl('restart', 'dkc-agent.service');
  await settled();
  await sleep(1000);
  const afterRestart = last();
  const pid = property('kubelet.service', 'MainPID');
  execFileSync('rm', [`${DIR}/filler`]);
  systemctl('restart', 'dkc-agent.service');
  await settled();
  await eventually('a written condemnation', () => spawnSync('grep', ['-q', 'kubelet exited', `${DIR}/store/meta/condemned.json`]).status === 0); // prettier-ignore
  await sleep(1000);
  return {
    starts: kubeletStarts()
      .map(({ maxPods }) => maxPods)
      .filter((maxPods, i, all) => maxPods !== all[i + 1]),
    kills: kubeletStarts().filter(({ maxPods }) => maxPods === KILLER).length,
    backAfterMs,
    afterRestart,
    isWritten: true,
    isUntouched: property('kubelet.service', 'MainPID') === pid,
  };
});
