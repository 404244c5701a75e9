import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bundle } from '../inside/agent.ts';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, LOCAL } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface NoLocalResult {
  [step: string]: { starts: number; maxPods: unknown; effective: boolean; status: number | null; drill: number | null; said: boolean };
}

const DROP_IN = '/etc/systemd/system/kubelet.service.d';
const OWN = '/etc/kubernetes/kubelet-config.yaml';

/** The kubelet of a distribution that keeps its configuration elsewhere than the agent looks for it. */
await scenario(async (): Promise<NoLocalResult> => {
  const result: NoLocalResult = {};
  const dkc = (...args: string[]) => spawnSync('/usr/lib/dkc/node', ['/usr/lib/dkc/dkc.js', ...args]).status;
  let saidBefore = 0;
  /** `said`: the agent's log has another error about the local config since the step before. */
  const note = async (step: string): Promise<void> => {
    await settled();
    // A kubelet too many needs a moment to show up.
    await sleep(1000);
    await settled();
    run('journalctl', '--sync');
    const starts = kubeletStarts();
    const said = run('journalctl', '-o', 'cat', '-u', 'dkc-agent', '-p', 'err').split('\n');
    const [before, errors] = [saidBefore, said.filter((line) => line.includes('local config')).length];
    saidBefore = errors;
    result[step] = {
      starts: starts.length,
      maxPods: starts.at(-1)?.maxPods,
      effective: existsSync(EFFECTIVE),
      status: dkc('status'),
      drill: dkc('drill'),
      said: errors > before,
    };
  };

  // Before the installation.
  renameSync(`${DROP_IN}/20-dkc.conf`, '/root/20-dkc.conf');
  mkdirSync('/etc/kubernetes', { recursive: true });
  renameSync(LOCAL, OWN);
  writeFileSync(`${DROP_IN}/15-own.conf`, `[Service]\nEnvironment="KUBELET_CONFIG_ARGS=--config=${OWN}"\n`);
  systemctl('daemon-reload');
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);

  renameSync('/root/20-dkc.conf', `${DROP_IN}/20-dkc.conf`);
  systemctl('daemon-reload');
  const agent = new Bundle();
  await agent.prepare();
  systemctl('start', 'dkc-agent.service');
  await note('installed, with the default of localConfig');

  appendFileSync('/etc/dkc/agent.yaml', `localConfig: ${OWN}\n`);
  systemctl('restart', 'dkc-agent.service');
  await kubeletStart(2);
  await note('with the right one');

  renameSync(OWN, `${OWN}.away`);
  systemctl('restart', 'dkc-agent.service');
  await note('and gone later');
  writeFileSync(OWN, kubeletConfig({ maxPods: 105 }));
  await kubeletStart(3);
  await note('and back, with another content');

  writeFileSync(OWN, 'maxPods: [');
  systemctl('restart', 'dkc-agent.service');
  await note('and broken');
  await agent.assign(kubeletConfig({ maxPods: 106 }));
  await eventually('the assigned config', () => kubeletStarts()[3]);
  await note('with an assignment beside it');
  return result;
});
