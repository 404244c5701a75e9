import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, watch, writeFileSync } from 'node:fs';
import { EFFECTIVE, kubeletPid, kubeletStart, kubeletStarts } from '../inside/kubelet.ts';
import { act, installedVersion, installers, listing, type PackageKind } from '../inside/packages.ts';
import { scenario } from '../inside/scenario.ts';
import { property, settled, systemctl } from '../inside/systemctl.ts';
import { eventually } from '../../../support/eventually.ts';
import type { Cut } from '../packages-cut.ts';

/** What is there after one cut and what was done about it. */
export interface CutResult {
  /** After the cut, in the middle of it: the kubelet is started again, or left alone. */
  kubelet: string;
  /** In the end: version of the program, state of the agent, what the kubelet runs with. */
  end: string;
  /** Files that are there and were not before, or the other way round, where all of it was removed in the end. */
  changed: string[];
}

interface Options {
  kind: PackageKind;
  older: string;
  newer: string;
  cuts: Cut[];
}

const WRAPPERS = '/srv/cut';

/** Programs that end the whole process group in place of a call that has the words of $CUT_AT. */
function wrap(...names: string[]): void {
  mkdirSync(WRAPPERS, { recursive: true });
  for (const name of names)
    writeFileSync(`${WRAPPERS}/${name}`, `#!/bin/sh\ncase "${name} $*" in *"$CUT_AT"*) kill -9 0 ;; esac\nexec /usr/bin/${name} "$@"\n`, {
      mode: 0o755,
    });
}

/** Runs it until a file of this name appears in /usr/lib/dkc, or until such a call. @throws where it came to its end */
async function cutShort([program = '', ...args]: readonly string[], { file, call }: Cut): Promise<void> {
  mkdirSync('/usr/lib/dkc', { recursive: true });
  const env = { ...process.env, PATH: `${WRAPPERS}:${process.env['PATH']}`, CUT_AT: call ?? 'never' };
  const child = spawn(program, args, { detached: true, stdio: 'ignore', env });
  const watcher = watch('/usr/lib/dkc', (_event, name) => {
    if (file !== undefined && name?.startsWith(file)) process.kill(-Number(child.pid), 'SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number, string | null];
  watcher.close();
  if (signal !== 'SIGKILL') throw new Error(`${program} ${args.join(' ')} was not cut at ${file ?? call}`);
}

const secondNow = (): number => Math.floor(Date.now() / 1_000);

await scenario(async ({ kind, older, newer, cuts }: Options): Promise<Record<string, CutResult>> => {
  const { prepare, install, remove, purge } = installers[kind];
  prepare?.();
  wrap('mv', 'rm', 'systemctl');
  install(older);
  install(newer);
  systemctl('start', 'kubelet.service');
  await kubeletStart(1);
  const result: Record<string, CutResult> = {};

  const restarted = async (): Promise<string> => {
    systemctl('daemon-reload');
    const before = kubeletStarts().length;
    systemctl('restart', 'kubelet.service');
    const { maxPods } = await kubeletStart(before + 1);
    return `started again with ${String(maxPods)} pods`;
  };
  for (const cut of cuts) {
    const before = listing();
    const fresh = cut.during === 'install';
    if (!fresh) {
      act(install(older));
      await settled();
    }
    const pid = kubeletPid();
    const command = { install: install(older), upgrade: install(newer), remove: remove(older) }[cut.during];
    await cutShort(command, cut);
    const second = secondNow();
    const untouched = kubeletPid() === pid ? 'untouched' : 'another process';
    const kubelet = cut.during === 'upgrade' ? untouched : await restarted();
    // rpm names files that it unpacks by the second: in that of the run that was killed it finds its own left over, and fails.
    if (kind === 'rpm') await eventually('the next second', () => secondNow() > second);
    act({ again: command, back: install(older), purge }[cut.afterwards]);
    if (cut.afterwards !== 'purge' && cut.during !== 'remove') {
      await settled();
      await eventually('a kubelet on the effective file', () => kubeletStarts().at(-1)?.config === EFFECTIVE);
    }
    const last = kubeletStarts().at(-1);
    const version = installedVersion();
    const end = `${version ?? 'none'}, ${property('dkc-agent.service', 'ActiveState')}, ${last?.config}`;
    if (version !== undefined) act(purge);
    else if (cut.afterwards !== 'purge' && kind !== 'rpm') act(kind === 'deb' ? purge : [...install(older), '--purge']);
    const after = listing();
    const changed = [...after].filter((path) => !before.has(path)).concat([...before].filter((path) => !after.has(path)));
    result[`${cut.during} at ${cut.file ?? cut.call}, ${cut.afterwards}`] = { kubelet, end, changed };
  }
  return result;
});
