import { spawnSync } from 'node:child_process';
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Bundle } from '../inside/agent.ts';
import { EFFECTIVE, kubeletPid, kubeletStart, kubeletStarts, sha256Of } from '../inside/kubelet.ts';
import { run } from '../inside/program.ts';
import { bothUp, scenario } from '../inside/scenario.ts';
import { property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';

export interface InstallationResult {
  /** systemd-analyze's exposure of dkc-agent.service, 0 to 10. */
  exposure: number;
  systemd: number;
  status: string;
  /** What systemd does not understand in the project's files, apart from OpenFile= where it is too old for that. */
  complaints: string[];
  tmpfiles: string[];
  /** What an administrator sees when the installation is tampered with. */
  drift: DriftStory;
}

export interface DriftStory {
  /** Kinds of drift in `dkc status` after each step, and whether the kubelet is still the process from before. */
  steps: Record<string, { drift: string[]; kubelet: 'untouched' | 'another process' }>;
  kept: boolean;
  /** The effective file is again what the agent wrote. */
  restored: boolean[];
  /** Of the Node, oldest first. */
  events: string[];
  /** `dkc status` while all of it is wrong. */
  text: string;
}

const DROP_IN = '/etc/systemd/system/kubelet.service.d/20-dkc.conf';
const AWAY = '/root/20-dkc.conf';
const ACTIVE = '/var/lib/dkc/store/meta/active.json';
const POLICY = '/etc/dkc/policy.yaml';
/** Longer than the agent waits until it believes that the drop-in is gone, in ms. */
const WITHIN_MS = 200_000;

async function tamper(agent: Bundle): Promise<DriftStory> {
  const story: DriftStory = { steps: {}, kept: false, restored: [], events: [], text: '' };
  const written = sha256Of(EFFECTIVE);
  const dkc = (...args: string[]): string => spawnSync('/usr/lib/dkc/node', ['/usr/lib/dkc/dkc.js', ...args], { encoding: 'utf8' }).stdout;
  const kinds = (text: string): string[] => ((JSON.parse(text) as { drift?: { kind: string }[] }).drift ?? []).map(({ kind }) => kind);
  const drift = (): string[] => kinds(dkc('status', '-o', 'json'));
  const step = async (name: string, act: () => unknown, wanted: string[]): Promise<void> => {
    const kubelet = kubeletPid();
    await act();
    // The agent takes minutes until it believes some of it: the record is asked meanwhile, which costs no process each time.
    await eventually(
      `a record of ${wanted.join()} after ${name}`,
      () => isDeepStrictEqual(kinds(readFileSync(ACTIVE, 'utf8')), wanted),
      WITHIN_MS,
    );
    await eventually(`${wanted.join()} after ${name}`, () => isDeepStrictEqual(drift(), wanted), WITHIN_MS);
    await settled();
    story.steps[name] = { drift: drift(), kubelet: kubeletPid() === kubelet ? 'untouched' : 'another process' };
  };
  const restartKubelet = async (): Promise<void> => {
    const before = kubeletStarts().length;
    systemctl('restart', 'kubelet.service');
    await kubeletStart(before + 1);
  };
  const edit = (): void => appendFileSync(EFFECTIVE, 'podsPerCore: 7\n');
  const reload = (): string => systemctl('daemon-reload');

  await step('an edit', edit, ['EffectiveFileChanged']);
  await step('a restart of the agent', () => systemctl('restart', 'dkc-agent.service'), []);
  story.kept = readFileSync(`${EFFECTIVE}.drifted`, 'utf8').includes('podsPerCore');
  story.restored.push(sha256Of(EFFECTIVE) === written);

  const remove = (): void => {
    renameSync(DROP_IN, AWAY);
    reload();
    edit();
  };
  await step('another edit, and the drop-in is gone', remove, ['EffectiveFileChanged', 'NotUsed']);
  await step('the kubelet is restarted', restartKubelet, ['EffectiveFileChanged', 'NotUsed']);
  story.text = dkc('status');
  const correct = (): void => writeFileSync(POLICY, 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\ndrift: correct\n');
  await step('policy corrects', correct, ['NotUsed']);
  story.restored.push(sha256Of(EFFECTIVE) === written);
  const bringBack = async (): Promise<void> => {
    renameSync(AWAY, DROP_IN);
    reload();
    await restartKubelet();
  };
  await step('the drop-in is back', bringBack, []);

  interface Event {
    type: string;
    reason: string;
    message: string;
  }
  story.events = await eventually('the last event', async () => {
    const { items } = await agent.api.send<{ items: Event[] }>('GET', '/api/v1/namespaces/default/events');
    const said = items
      .filter(({ reason }) => reason === 'KubeletConfigDrifted')
      .map(({ type, message }) => `${type} ${message.split(':')[0]}`);
    return said.at(-1) === 'Normal NotUsed resolved' ? said : undefined;
  });
  return story;
}

await scenario(async (): Promise<InstallationResult> => {
  const up = await bothUp();
  const systemd = Number(systemctl('--version').split(' ')[1]);
  const security = run('systemd-analyze', 'security', 'dkc-agent.service', '--no-pager');
  const about = /dkc-agent\.service:|20-dkc\.conf:|dkc\.conf:/;
  const complaints = run('journalctl', '--no-pager', '-o', 'cat', '-p', 'warning', '_PID=1')
    .split('\n')
    .filter((line) => about.test(line) && !(systemd < 253 && line.includes("Unknown key 'OpenFile'")));
  return {
    exposure: Number(/exposure level[^:]*: ([\d.]+)/.exec(security)?.[1] ?? Number.NaN),
    systemd,
    status: property('dkc-agent.service', 'StatusText'),
    complaints: [...new Set(complaints)],
    tmpfiles: run('stat', '-c', '%a %U %n', '/run/dkc', '/var/lib/dkc', '/etc/dkc').split('\n'),
    drift: await tamper(up),
  };
});
