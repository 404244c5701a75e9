import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import { kubeletConfig } from './inside/kubelet.ts';

const here = import.meta.dirname;
const project = join(here, '../../..');

export interface MachineOptions {
  /** A node as kubeadm leaves it, for whom dkc is still to be installed. @default false */
  bare?: boolean;
  /** Units that start while booting. */
  enable?: readonly string[];
  /** Folders that outlive the machine: folder outside -> folder inside. */
  keep?: Readonly<Record<string, string>>;
  /** Files put over everything else: path inside -> text. */
  files?: Readonly<Record<string, string>>;
  /** Given to the scenario. */
  options?: object;
  /** In s. @default 600 */
  timeout?: number;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** with-systemd, to its end. */
export function withSystemd(args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(join(project, 'scripts/with-systemd'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = { stdout: '', stderr: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (ended.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (ended.stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...ended }));
  });
}

/** Why this machine cannot boot another one inside, or undefined where it can. */
export async function whyNoMachine(): Promise<string | undefined> {
  const { code, stderr } = await withSystemd(['-t', '120', 'true']);
  return code === 0 ? undefined : stderr.trim();
}

let built = false;

/** dist/dkc.js of the sources as they are. */
function theBundle(): string {
  if (!built) execFileSync(process.execPath, [join(project, 'scripts/build.ts')], { cwd: project, stdio: ['ignore', 'ignore', 'inherit'] });
  built = true;
  return join(project, 'dist/dkc.js');
}

/** The files of an installation below `layer`, as the package brings them. */
function install(layer: string): void {
  const lib = join(layer, 'usr/lib/dkc');
  for (const script of ['kubelet-sync', 'kubelet-stopped']) cpSync(join(project, 'systemd', script), join(lib, script));
  cpSync(join(project, 'systemd/tmpfiles.d'), join(layer, 'usr/lib/tmpfiles.d'), { recursive: true });
  cpSync(join(project, 'systemd/dkc-agent.service'), join(layer, 'usr/lib/systemd/system/dkc-agent.service'));
  cpSync(theBundle(), join(lib, 'dkc.js'));
}

/** @param node - what runs it */
function installKubelet(layer: string, node: string): void {
  const [from, to] = [join(here, 'stand-ins/kubelet.ts'), join(layer, 'usr/lib/kubelet-stand-in/kubelet.cjs')];
  buildSync({ entryPoints: [from], outfile: to, bundle: true, platform: 'node', format: 'cjs' });
  write(join(layer, 'usr/bin/kubelet'), `#!/bin/sh\nexec ${node} /usr/lib/kubelet-stand-in/kubelet.cjs "$@"\n`, 0o755);
  write(join(layer, 'var/lib/kubelet/config.yaml'), kubeletConfig());
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/**
 * Boots a machine with agent and kubelet installed, runs `scenarios/NAME.ts` on it, and returns what that printed.
 * @throws when the scenario fails, with its stderr and the end of the machine's journal
 */
export async function onMachine<Result>(name: string, { bare = false, ...given }: MachineOptions = {}): Promise<Result> {
  const temp = mkdtempSync(join(tmpdir(), 'dkc-machine-'));
  try {
    const [layer, units, journal] = [join(temp, 'layer'), join(temp, 'units'), join(temp, 'journal')];
    if (!bare) install(layer);
    installKubelet(layer, bare ? realpathSync(process.execPath) : '/usr/lib/dkc/node');
    for (const [path, text] of Object.entries(given.files ?? {})) write(join(layer, path), text);
    cpSync(join(here, 'units'), units, { recursive: true });
    if (!bare) cpSync(join(project, 'systemd/kubelet.service.d'), join(units, 'kubelet.service.d'), { recursive: true });

    const args = ['-u', units, '-l', layer, '-j', journal, '-t', String(given.timeout ?? 600)];
    if (!bare) args.push('-b', `${realpathSync(process.execPath)}:/usr/lib/dkc/node:ro`);
    for (const unit of given.enable ?? []) args.push('-e', unit);
    for (const [outside, inside] of Object.entries(given.keep ?? {})) args.push('-b', `${outside}:${inside}`);
    const options = JSON.stringify(given.options ?? {});
    const { code, stdout, stderr } = await withSystemd([...args, '--', process.execPath, join(here, 'scenarios', `${name}.ts`), options]);
    if (code !== 0) {
      const tail = await import('node:fs/promises').then((fs) => fs.readFile(journal, 'utf8')).catch(() => '');
      throw new Error(`Scenario ${name} ended with ${code}\n${stderr}\n${tail.split('\n').slice(-80).join('\n')}`);
    }
    return JSON.parse(stdout) as Result;
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}
