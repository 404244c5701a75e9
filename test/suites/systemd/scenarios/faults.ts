import type { AgentName } from '../inside/agent.ts';
import { kubeletConfig, kubeletPid, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface FaultsResult {
  /** What happened to the agent, and whether the kubelet's process is still the one from before. */
  faults: { fault: string; kubelet: 'untouched' | 'another process'; agent: string; result: string; ms: number }[];
  starts: unknown[];
}

const AGENT = 'dkc-agent.service';
const signal = (name: NodeJS.Signals) => () => process.kill(Number(property(AGENT, 'MainPID')), name);

/** Faults after which the agent has to come back by itself. */
const restarting: Record<string, () => unknown> = {
  'kill -9': signal('SIGKILL'),
  abort: signal('SIGABRT'),
  'exit 1': signal('SIGUSR2'),
  // A process that does nothing any more: only the watchdog can tell.
  hang: signal('SIGSTOP'),
  'systemctl restart': () => systemctl('restart', AGENT),
};

await scenario(async ({ agent: name }: { agent: AgentName }): Promise<FaultsResult> => {
  // Long enough that nothing but the hang meets the watchdog, however late a busy machine lets the agent ping.
  dropIn(AGENT, '[Service]\nRestartSec=100ms\nWatchdogSec=10s\n');
  const agent = await bothUp(name);
  // On a configuration of its own, so that an agent which forgets would show.
  await agent.assign(kubeletConfig({ maxPods: 101 }));
  await kubeletStart(2);
  await settled();
  const faults: FaultsResult['faults'] = [];

  for (const [fault, strike] of Object.entries(restarting)) {
    const [kubelet, before] = [kubeletPid(), property(AGENT, 'MainPID')];
    const at = Date.now();
    strike();
    await eventually(`the agent to be back after ${fault}`, () => {
      const pid = property(AGENT, 'MainPID');
      return pid !== '0' && pid !== before && property(AGENT, 'SubState') === 'running' ? true : undefined;
    });
    const ms = Date.now() - at;
    await settled();
    const seen = kubeletPid() === kubelet ? 'untouched' : 'another process';
    faults.push({ fault, kubelet: seen, agent: property(AGENT, 'ActiveState'), result: property(AGENT, 'Result'), ms });
  }

  for (const [fault, verb] of Object.entries({ stop: 'stop', 'start again': 'start' })) {
    const [kubelet, at] = [kubeletPid(), Date.now()];
    systemctl(verb, AGENT);
    const ms = Date.now() - at;
    const seen = kubeletPid() === kubelet ? 'untouched' : 'another process';
    faults.push({ fault, kubelet: seen, agent: property(AGENT, 'ActiveState'), result: property(AGENT, 'Result'), ms });
  }
  return { faults, starts: kubeletStarts().map(({ maxPods }) => maxPods) };
});
