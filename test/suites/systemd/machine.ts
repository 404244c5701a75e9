import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSync } from 'esbuild';
import type { AgentName } from './inside/agent.ts';
import { kubeletConfig } from './inside/kubelet.ts';

const here = import.meta.dirname;
const project = join(here, '../../..');

export interface MachineOptions {
  /** `none`: a node as kubeadm leaves it, for whom dkc is still to be installed. */
  agent: AgentName | 'none';
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
    const child = spawn(join(here, 'with-systemd'), args, { stdio: ['ignore', 'pipe', 'pipe'] });
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
function install(layer: string, agent: AgentName): void {
  const lib = join(layer, 'usr/lib/dkc');
  for (const script of ['kubelet-sync', 'kubelet-stopped']) cpSync(join(project, 'systemd', script), join(lib, script));
  cpSync(join(project, 'systemd/tmpfiles.d'), join(layer, 'usr/lib/tmpfiles.d'), { recursive: true });
  cpSync(join(project, 'systemd/dkc-agent.service'), join(layer, 'usr/lib/systemd/system/dkc-agent.service'));
  if (agent === 'bundle') cpSync(theBundle(), join(lib, 'dkc.js'));
  if (agent === 'stand-in') bundle('agent.ts', join(lib, 'dkc.js'));
}

const bundle = (from: string, to: string) =>
  buildSync({ entryPoints: [join(here, 'stand-ins', from)], outfile: to, bundle: true, platform: 'node', format: 'cjs' });

/** @param node - what runs it */
function installKubelet(layer: string, node: string): void {
  bundle('kubelet.ts', join(layer, 'usr/lib/kubelet-stand-in/kubelet.cjs'));
  write(join(layer, 'usr/bin/kubelet'), `#!/bin/sh\nexec ${node} /usr/lib/kubelet-stand-in/kubelet.cjs "$@"\n`, 0o755);
  write(join(layer, 'var/lib/kubelet/config.yaml'), kubeletConfig());
}

function write(path: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
}

/**
 * DKC_TEST_SYSTEMD names a folder with another systemd, laid over this machine's: its unpacked packages and libraries, without etc/,
 * tmpfiles.d/, system-generators/ and the *.wants/ of its units.
 *
 * Boots a machine with agent and kubelet installed, runs `scenarios/NAME.ts` on it, and returns what that printed.
 * @throws when the scenario fails, with its stderr and the end of the machine's journal
 */
export async function onMachine<Result>(name: string, { agent, ...given }: MachineOptions): Promise<Result> {
  const temp = mkdtempSync(join(tmpdir(), 'dkc-machine-'));
  try {
    const [layer, units, journal] = [join(temp, 'layer'), join(temp, 'units'), join(temp, 'journal')];
    if (agent !== 'none') install(layer, agent);
    installKubelet(layer, agent === 'none' ? realpathSync(process.execPath) : '/usr/lib/dkc/node');
    for (const [path, text] of Object.entries(given.files ?? {})) write(join(layer, path), text);
    cpSync(join(here, 'units'), units, { recursive: true });
    if (agent !== 'none') cpSync(join(project, 'systemd/kubelet.service.d'), join(units, 'kubelet.service.d'), { recursive: true });

    const other = process.env['DKC_TEST_SYSTEMD'];
    const args = other === undefined ? [] : ['-l', other];
    args.push('-u', units, '-l', layer, '-j', journal, '-t', String(given.timeout ?? 600));
    if (agent !== 'none') args.push('-b', `${realpathSync(process.execPath)}:/usr/lib/dkc/node:ro`);
    for (const unit of given.enable ?? []) args.push('-e', unit);
    for (const [outside, inside] of Object.entries(given.keep ?? {})) args.push('-b', `${outside}:${inside}`);
    const options = JSON.stringify({ agent, ...given.options });
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
