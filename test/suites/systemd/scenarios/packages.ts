import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { Bundle } from '../inside/agent.ts';
import { kubeletConfig, kubeletPid, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { act, installedVersion, installers, listing, type InstallerKind } from '../inside/packages.ts';
import { run } from '../inside/program.ts';
import { scenario } from '../inside/scenario.ts';
import { property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

/** What is there after a step. */
export interface Step {
  /** Since the step before. */
  kubeletStarts: number;
  /** What the kubelet was started with last. */
  config: string;
  maxPods: unknown;
  agent: string;
  /** Of the installed program. */
  version: string;
}

export interface PackagesResult {
  steps: Record<string, Step>;
  /** The settings of the administrator are the same after an upgrade. */
  settingsKept: boolean;
  /** Whether the agent was another process after an upgrade. */
  agentRestarted: boolean;
  /** Modes and owners of what may hold secrets. */
  modes: string[];
  /** Files there at the end that were not there at the beginning, and the other way round. */
  left: string[];
  gone: string[];
  complaints: string[];
  /** What `dkc doctor` says of the node when something is assigned, `CHECK RESULT` of all that is not ok. */
  doctor: string[];
}

interface Options {
  kind: InstallerKind;
  /** Folders with packages of two versions. */
  older: string;
  newer: string;
}

await scenario(async ({ kind, older, newer }: Options): Promise<PackagesResult> => {
  const { prepare, install, downgrade = install, remove, purge } = installers[kind];
  const result: PackagesResult = {
    steps: {},
    settingsKept: false,
    agentRestarted: false,
    modes: [],
    left: [],
    gone: [],
    complaints: [],
    doctor: [],
  };
  prepare?.();
  install(older);
  install(newer); // the tarballs are unpacked now
  const before = listing();
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  let starts = 1;

  const look = async (name: string): Promise<void> => {
    await eventually('an end of all jobs', () => systemctl('list-jobs', '--no-legend') === '');
    const all = kubeletStarts();
    const last = all.at(-1);
    result.steps[name] = {
      kubeletStarts: all.length - starts,
      config: last?.config ?? '',
      maxPods: last?.maxPods,
      agent: `${property('dkc-agent.service', 'ActiveState')} ${property('dkc-agent.service', 'UnitFileState')}`.trim(),
      version: installedVersion() ?? '',
    };
    starts = all.length;
  };
  /** All of it is over when a kubelet that was asked for has started, and nothing is asked for any more. */
  const step = async (name: string, command: readonly string[], up: boolean, kubelets: number): Promise<void> => {
    result.complaints.push(...act(command).split('\n').filter((line) => /dkc: |warning|error|cannot/i.test(line) && !/installed dkc|removed$|downgrading dkc|agent.yaml.rpmsave/.test(line))); // prettier-ignore
    if (up) await settled();
    await kubeletStart(starts + kubelets);
    await look(name);
  };

  await step('install', install(older), true, 1);
  result.modes = run('stat', '-c', '%a %U %n', '/etc/dkc', '/etc/dkc/agent.yaml', '/var/lib/dkc', '/run/dkc').split('\n');

  const agent = new Bundle('# mine\n');
  await agent.prepare();
  systemctl('restart', 'dkc-agent.service');
  await agent.assign(kubeletConfig({ maxPods: 120 }));
  await kubeletStart(starts + 1);
  await settled();
  await look('assign');
  const said = spawnSync('dkc', ['doctor', '-o', 'json'], { encoding: 'utf8' }).stdout;
  const lines = JSON.parse(said) as { check: string; result: string; detail: string }[];
  result.doctor = lines.filter((line) => line.result !== 'ok').map((line) => `${line.check} ${line.result}: ${line.detail}`);

  const settings = readFileSync('/etc/dkc/agent.yaml', 'utf8');
  const pid = property('dkc-agent.service', 'MainPID');
  await step('upgrade', install(newer), true, 0);
  result.agentRestarted = property('dkc-agent.service', 'MainPID') !== pid;
  await step('downgrade', downgrade(older), true, 0);
  await step('the same again', install(older), true, 0);
  systemctl('disable', '--now', 'dkc-agent.service');
  await step('upgrade of a disabled agent', install(newer), false, 0);
  systemctl('enable', '--now', 'dkc-agent.service');
  result.settingsKept = readFileSync('/etc/dkc/agent.yaml', 'utf8') === settings;
  await settled();

  await step('remove', remove(newer), false, 1);
  if (kind !== 'dnf') {
    await step('install after that', install(newer), true, 1);
    // By hand, for a kubelet of another name; it has to go as well.
    writeFileSync('/etc/systemd/system/kubelet.service.d/20-dkc.conf', readFileSync('/usr/lib/systemd/system/kubelet.service.d/20-dkc.conf', 'utf8') + '# mine\n'); // prettier-ignore
    systemctl('daemon-reload');
  }
  const pidBefore = kubeletPid();
  await step('purge', purge, false, kind === 'dnf' ? 0 : 1);
  if (kind === 'dnf' && kubeletPid() !== pidBefore) throw new Error('the kubelet was restarted once more');
  systemctl('stop', 'apiserver.service');
  const after = listing();
  result.left = [...after].filter((path) => !before.has(path));
  result.gone = [...before].filter((path) => !after.has(path));
  return result;
});
