import { globSync } from 'node:fs';
import { kubeletConfig, kubeletPid, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface StopResult {
  /** What happened to the agent -> its state afterwards, and whether the kubelet's process is the one from before. */
  faults: Record<string, string>;
  /** What the step left: the agent's state and what Node.js kept of its code, how many starts of the kubelet it took, and of the last one which file and what it holds. */
  steps: Record<string, { agent: string; isKept: boolean; starts: number; config: string | undefined; maxPods: unknown }>;
}

const AGENT = 'dkc-agent.service';
const signal = (name: NodeJS.Signals) => () => process.kill(Number(property(AGENT, 'MainPID')), name);

/** Faults after which the agent has to come back by itself. */
const restarting: Record<string, () => unknown> = {
  'kill -9': signal('SIGKILL'),
  // A process that does nothing any more: only the watchdog can tell.
  hang: signal('SIGSTOP'),
  'systemctl restart': () => systemctl('restart', AGENT),
};

await scenario(async ({ commands: [mask = 'false', unmask = 'false'] }: { commands: string[] }): Promise<StopResult> => {
  dropIn('kubelet.service', '[Service]\nRestartSec=100ms\n');
  // Long enough that nothing but the hang meets the watchdog, however late a busy machine lets the agent ping.
  dropIn(AGENT, '[Service]\nWatchdogSec=10s\n');
  const agent = await bothUp();
  systemctl('enable', AGENT, 'kubelet.service');
  // On a configuration of its own, so that an agent which forgets would show.
  await agent.assign(kubeletConfig({ maxPods: 101 }));
  await kubeletStart(2);
  await settled();
  const result: StopResult = { faults: {}, steps: {} };
  const kubelet = kubeletPid();
  const seen = (): string =>
    `kubelet ${kubeletPid() === kubelet ? 'untouched' : 'another process'}, agent ${property(AGENT, 'ActiveState')}`;
  for (const [fault, strike] of Object.entries(restarting)) {
    const before = property(AGENT, 'MainPID');
    strike();
    await eventually(`the agent to be back after ${fault}`, () => {
      const pid = property(AGENT, 'MainPID');
      return pid !== '0' && pid !== before && property(AGENT, 'SubState') === 'running' ? true : undefined;
    });
    await settled();
    result.faults[fault] = seen();
  }

  let before = kubeletStarts().length;
  const note = (step: string): void => {
    const starts = kubeletStarts();
    const last = starts.at(-1);
    result.steps[step] = {
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
  result.faults['stop'] = seen();
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
});
