import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { kubeletConfig, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface PanicOptions {
  /** `assign`: trusts one configuration and begins with another. `boot`: looks at what the boot started. */
  step: 'assign' | 'boot';
  /** How the machine goes down. A panic is the end of PID 1, which comes with the end of this scenario. */
  end: 'panic' | 'shutdown';
}

export interface PanicResult {
  /** maxPods of the kubelet's starts. */
  starts: unknown[];
  /** The agent left a mark of a clean stop. */
  isClean: boolean;
}

const TRUSTED = 101;
const ON_TRIAL = 102;
const MARK = '/var/lib/dkc/clean-stop.json';

/** A machine that goes down a moment after its kubelet has come up. */
await scenario(async ({ step, end }: PanicOptions): Promise<PanicResult> => {
  if (step === 'assign') await assignBoth();
  else {
    await kubeletStart(1);
    await sleep(1000);
  }
  const starts = kubeletStarts().map(({ maxPods }) => maxPods);
  if (end === 'shutdown') await shutDown();
  return { starts, isClean: existsSync(MARK) };
});

async function assignBoth(): Promise<void> {
  const agent = await bothUp('trialDuration: 1s\nsyncInterval: 1s\n');
  await agent.assign(kubeletConfig({ maxPods: TRUSTED }));
  await agent.trusted();
  const settings = '/etc/dkc/agent.yaml';
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('trialDuration: 1s', 'trialDuration: 10m'));
  systemctl('restart', 'dkc-agent.service');
  await settled();
  await agent.assign(kubeletConfig({ maxPods: ON_TRIAL }));
  await eventually('the kubelet on trial', () => kubeletStarts().at(-1)?.maxPods === ON_TRIAL);
  await settled();
}

/** As far as the end of the agent: the machine itself goes with this process, which a shutdown would end first. */
async function shutDown(): Promise<void> {
  const pid = property('dkc-agent.service', 'MainPID');
  process.on('SIGTERM', () => {});
  // It may end by the very shutdown that it asks for.
  spawnSync('systemctl', ['--no-block', 'poweroff']);
  await eventually('the end of the agent', () => (existsSync(`/proc/${pid}`) ? undefined : true));
}
