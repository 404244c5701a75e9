import { globSync } from 'node:fs';
import type { AgentName } from '../inside/agent.ts';
import { kubeletConfig, kubeletPid, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

/** What the step left: the agent's state and what Node.js kept of its code, how many starts of the kubelet it took, and of the last one which file and what it holds. */
export interface StopResult {
  [step: string]: { agent: string; isKept: boolean; starts: number; config: string | undefined; maxPods: unknown };
}

const AGENT = 'dkc-agent.service';

await scenario(
  async ({ agent: name, commands: [mask = 'false', unmask = 'false'] }: { agent: AgentName; commands: string[] }): Promise<StopResult> => {
    dropIn('kubelet.service', '[Service]\nRestartSec=100ms\n');
    const agent = await bothUp(name);
    systemctl('enable', AGENT, 'kubelet.service');
    await agent.assign(kubeletConfig({ maxPods: 101 }));
    await kubeletStart(2);
    await settled();
    const result: StopResult = {};
    let before = kubeletStarts().length;
    const note = (step: string): void => {
      const starts = kubeletStarts();
      const last = starts.at(-1);
      result[step] = {
        agent: property(AGENT, 'ActiveState'),
        isKept: globSync('/run/dkc/compile-cache/*/*').length === 1,
        starts: starts.length - before,
        config: last?.config,
        maxPods: last?.maxPods,
      };
      before = starts.length;
    };
    /** The kubelet dies, and systemd starts it again. */
    const die = async (): Promise<void> => {
      const before = kubeletStarts().length;
      process.kill(Number(kubeletPid()), 'SIGKILL');
      await kubeletStart(before + 1);
      await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
    };

    systemctl('stop', AGENT);
    await die();
    await settled();
    note('a plain stop, and the kubelet restarts');

    run('sh', '-ec', mask);
    await die();
    note('masked, and the kubelet restarts');
    run('sh', '-ec', unmask);
    await settled();
    note('unmasked');
    return result;
  },
);
