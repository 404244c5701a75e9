import { spawnSync } from 'node:child_process';
import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { EFFECTIVE, kubeletConfig, kubeletStart, kubeletStarts, startIsNoted } from '../inside/kubelet.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { dropIn, property, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface HandOverResult {
  /** What kubelet-sync was to judge -> its exit code, the kubelet's state, and how many starts it led to. */
  [situation: string]: string;
}

const UNITS = '/etc/systemd/system';
const SETTINGS = '/etc/dkc/agent.yaml';

/** The states a kubelet can be in when kubelet-sync comes. The effective file is written by hand: the script alone is judged. */
await scenario(async (): Promise<HandOverResult> => {
  await bothUp();
  systemctl('stop', 'dkc-agent.service');
  // The kubelet wants it, and it would set the effective file right.
  dropIn('dkc-agent.service', '[Unit]\nConditionPathExists=/nowhere\n');
  const result: HandOverResult = {};
  let unit = 'kubelet.service';
  let maxPods = 200;
  const change = () => writeFileSync(EFFECTIVE, kubeletConfig({ maxPods: ++maxPods }));
  const state = (key: string, wanted: string) => eventually(`${unit} to be ${wanted}`, () => property(unit, key) === wanted);
  const kill = () => process.kill(Number(property(unit, 'MainPID')), 'SIGKILL');

  async function start(): Promise<void> {
    const before = kubeletStarts().length;
    systemctl('start', unit);
    await kubeletStart(before + 1);
  }

  /** What ExecStartPost= of the agent does, in a service as there. */
  async function sync(situation: string, environment: readonly string[] = []): Promise<void> {
    const before = kubeletStarts().length;
    const service = ['--wait', '--quiet', '--collect', ...environment.map((pair) => `--setenv=${pair}`)];
    const { status } = spawnSync('systemd-run', [...service, '/usr/lib/dkc/kubelet-sync'], { stdio: 'ignore' });
    // A kubelet too many needs a moment to show up.
    await sleep(500);
    await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
    await startIsNoted(unit);
    const starts = kubeletStarts().slice(before);
    const right = starts.every((start) => start.maxPods === maxPods);
    result[situation] = `exit ${status}, ${property(unit, 'ActiveState')}, ${starts.length} starts${right ? '' : ' with the wrong file'}`;
  }

  await sync('nothing is new');
  change();
  await sync('off by the environment', ['DKC_KUBELET_UNIT=']);
  writeFileSync(SETTINGS, 'nodeName: machine\n"kubeletUnit" : ""   # by hand\n');
  await sync('off by agent.yaml');
  writeFileSync(SETTINGS, "kubeletUnit: 'no such unit'\n");
  await sync('not a unit name');
  rmSync(SETTINGS);
  await sync('running');
  renameSync(`${UNITS}/${unit}`, '/root/kubelet.service');
  systemctl('mask', unit);
  change();
  await sync('masked while it runs');
  systemctl('unmask', unit);
  renameSync('/root/kubelet.service', `${UNITS}/${unit}`);
  systemctl('daemon-reload');
  await sync('masked no more');

  systemctl('stop', unit);
  change();
  await sync('stopped by the administrator');
  await start();

  dropIn(unit, '[Service]\nRestartSec=1h\n');
  kill();
  await state('SubState', 'auto-restart');
  change();
  await sync('waits for its automatic restart');

  dropIn(unit, '[Unit]\nStartLimitIntervalSec=1h\nStartLimitBurst=1\n[Service]\nRestartSec=0\n');
  // The first one is its only restart.
  kill();
  await state('NRestarts', '1');
  await state('SubState', 'running');
  kill();
  await state('ActiveState', 'failed');
  change();
  await sync('failed by its start limit');
  // At its limit, and its automatic restart waits for another unit, as it does for the agent: then it must not be refused.
  const gate = ['--quiet', '--no-block', '--unit=gate', '-p', 'Type=oneshot', '-p', `Before=${unit}`];
  spawnSync('systemd-run', [...gate, 'sh', '-c', 'until [ -e /run/gate ]; do sleep 0.1; done']);
  kill();
  await state('ActiveState', 'inactive');
  change();
  spawnSync('/usr/lib/dkc/kubelet-sync');
  writeFileSync('/run/gate', '');
  await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
  result['waits at its start limit'] = property(unit, 'ActiveState');
  await startIsNoted(unit);

  change();
  rmSync('/run/dkc/kubelet-started.yaml');
  await sync('started before the drop-in was there');
  rmSync(EFFECTIVE);
  await sync('no effective file');
  change();
  renameSync(`${UNITS}/kubelet.service.d/20-dkc.conf`, '/root/20-dkc.conf');
  systemctl('daemon-reload');
  await sync('without the drop-in');
  await sync('without the drop-in, again');

  // The kubelet of another distribution: its unit has another name, and says so in one place.
  systemctl('stop', unit);
  unit = 'other.service';
  cpSync(`${UNITS}/kubelet.service`, `${UNITS}/${unit}`);
  cpSync(`${UNITS}/kubelet.service.d`, `${UNITS}/${unit}.d`, { recursive: true });
  cpSync('/root/20-dkc.conf', `${UNITS}/${unit}.d/20-dkc.conf`);
  // As an editor of Windows writes it.
  writeFileSync(SETTINGS, '\ufeffkubeletUnit: other.service\r\n');
  systemctl('daemon-reload');
  await start();
  change();
  await sync('a unit of another name');
  return result;
});
