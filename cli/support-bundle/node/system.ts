import { arch, cpus, release, totalmem, uptime } from 'node:os';
import { jsonText } from '../../output/printable.ts';
import { redactFlags, redactUnit } from '../redact/unit.ts';
import { redactText } from '../redact/text.ts';
import { splitWords } from '../../../agent/host/unit.ts';
import type { Context } from '../../command.ts';
import type { Found } from '../collector.ts';

type Host = Pick<Context, 'exec' | 'disk'>;

const AGENT_UNIT = 'dkc-agent.service';
const PROPERTIES = [
  'Id,LoadState,ActiveState,SubState,Result,UnitFileState,FragmentPath,DropInPaths,NeedDaemonReload,MainPID,ExecMainCode,ExecMainStatus',
  'ExecMainStartTimestamp,ActiveEnterTimestamp,NRestarts,Wants,After,StatusText,MemoryCurrent',
].join(',');

/** Versions and sizes of this machine. */
export async function systemFacts(context: Context, kubelet: string, signal: AbortSignal): Promise<Found[]> {
  const { exec, disk, build } = context;
  const first = async (program: string, args: string[]): Promise<string | null> => {
    const { code, stdout } = await exec(program, args, { signal });
    return code === 0 ? redactText(stdout.split('\n')[0] ?? '') : null;
  };
  const text = (path: string): Promise<string> =>
    disk.readLinked(path).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => '',
    );
  const osRelease = /^(?:ID|VERSION_ID|PRETTY_NAME)=.*$/gm;
  const facts = {
    dkc: build,
    kubelet: await first(kubelet, ['--version']),
    systemd: await first('systemctl', ['--version']),
    kernel: release(),
    arch: arch(),
    os: [...(await text('/etc/os-release')).matchAll(osRelease)].map(([line]) => redactText(line)),
    cgroup: (await disk.stat('/sys/fs/cgroup/cgroup.controllers')) ? 2 : 1,
    cpus: cpus().length,
    memoryBytes: totalmem(),
    uptimeSeconds: Math.round(uptime()),
    clockSynchronized: await first('timedatectl', ['show', '-p', 'NTPSynchronized', '--value']),
    time: new Date(context.clock.now()).toISOString(),
  };
  return [{ path: 'versions.json', text: jsonText(facts) }];
}

/** Units and drop-ins of agent and kubelet as systemd merges them, their states, and the running kubelet's command line. */
export async function unitFiles({ exec, disk }: Host, kubeletUnit: string, signal: AbortSignal): Promise<Found[]> {
  const found: Found[] = [];
  for (const unit of [AGENT_UNIT, ...(kubeletUnit === '' ? [] : [kubeletUnit])]) {
    const cat = await exec('systemctl', ['cat', '--no-pager', '--', unit], { signal });
    found.push(
      cat.code === 0
        ? { path: `units/${unit}.txt`, text: redactUnit(cat.stdout), note: 'without comments and values of variables' }
        : { path: `units/${unit}.txt`, leftOut: redactText(cat.stderr.trim()) || 'systemctl cat failed' },
    );
    const show = await exec('systemctl', ['show', '-p', PROPERTIES, '--', unit], { signal });
    if (show.code === 0) found.push({ path: `units/${unit}.show.txt`, text: redactText(show.stdout) });
  }
  if (kubeletUnit !== '') found.push(await commandLine({ exec, disk }, kubeletUnit, signal));
  return found;
}

async function commandLine({ exec, disk }: Host, unit: string, signal: AbortSignal): Promise<Found> {
  const path = 'units/kubelet-command-line.txt';
  const pid = Number((await exec('systemctl', ['show', '-P', 'MainPID', '--', unit], { signal })).stdout);
  if (!(pid > 0)) return { path, leftOut: 'the kubelet is not running' };
  const line = new TextDecoder().decode(await disk.read(`/proc/${pid}/cmdline`));
  const words = line.includes('\0') ? line.split('\0').filter((word) => word !== '') : splitWords(line);
  return { path, text: redactFlags(words).map((word) => `${word}\n`).join(''), note: 'one argument a line; values of unknown flags are redacted' }; // prettier-ignore
}

/** Output is limited by base/exec.ts: journalctl prints the newest lines first, so that these are kept. */
export async function unitJournal({ exec }: Host, unit: string, sinceMs: number, lines: number, signal: AbortSignal): Promise<Found> {
  const path = `journal/${unit}.log`;
  const args = [
    '--reverse',
    '--no-pager',
    '--quiet',
    '--output=short-iso-precise',
    `--since=-${Math.ceil(sinceMs / 1000)}s`,
    `--lines=${lines}`,
  ];
  const ran = await exec('journalctl', [...args, `--unit=${unit}`], { signal, timeoutMs: 25_000 });
  // journalctl was killed at the limit of its output: keep this output.
  if (ran.code !== 0 && ran.stdout === '') return { path, leftOut: redactText(ran.stderr.trim()) || 'journalctl failed' };
  const entries = entriesOf(ran.stdout);
  if (ran.code !== 0) entries.pop();
  return {
    path,
    text: redactText(entries.toReversed().join('')),
    keep: 'end',
    note: ran.code === 0 ? `${entries.length} entries` : `newest ${entries.length} entries`,
  };
}

/** Lines of an entry after its first are indented. */
function entriesOf(text: string): string[] {
  const entries: string[] = [];
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (/^\s/.test(line) && entries.length > 0) entries.push(`${entries.pop() ?? ''}${line}\n`);
    else entries.push(`${line}\n`);
  }
  return entries;
}
