import { dirname, join } from 'node:path';
import type { AgentOptions, AgentWorld } from '../options.ts';
import { sha256 } from '../checkpoint/payload.ts';
import type { Millis } from '../../base/clock.ts';

/** Name of the copy that the drop-in makes of the file with which a kubelet is started, beside the exits file. */
export const STARTED_FILE = 'kubelet-started.yaml';

/** `starting`: the process runs, and systemd waits for its READY=1 (Type=notify). */
export type Running = boolean | 'starting';

/**
 * Whether the kubelet's unit is active, and was started on the file with this hash: the health of an old kubelet is no evidence about a new config.
 * Without `--kubelet-unit` the kubelet counts as running.
 */
export async function isRunningOn(
  effectiveSha256: string,
  options: Pick<AgentOptions, 'kubeletUnit' | 'kubeletExits'>,
  { disk, exec }: Pick<AgentWorld, 'disk' | 'exec'>,
): Promise<Running> {
  if (options.kubeletUnit === '') return true;
  const started = await startedWith(options, disk);
  // Without the copy (no drop-in) the file is unknown: assume this one.
  if (started !== undefined && started !== effectiveSha256) return false;
  return stateOf(options.kubeletUnit, exec);
}

/** Which file the running kubelet was started on: this one, another or unknown; or no kubelet runs. */
export type KubeletStart = 'this' | 'another' | 'unknown' | 'down';

/** The start of the running kubelet, by the copy that its drop-in made. */
export async function startOf(
  effectiveSha256: string,
  options: Pick<AgentOptions, 'kubeletUnit' | 'kubeletExits'>,
  { disk, exec }: { disk: Pick<AgentWorld['disk'], 'read'>; exec: AgentWorld['exec'] },
): Promise<KubeletStart> {
  const started = await startedWith(options, disk);
  if (started === effectiveSha256) return 'this';
  if ((await stateOf(options.kubeletUnit, exec)) !== true) return 'down';
  return started === undefined ? 'unknown' : 'another';
}

async function startedWith(
  { kubeletExits }: Pick<AgentOptions, 'kubeletExits'>,
  disk: Pick<AgentWorld['disk'], 'read'>,
): Promise<string | undefined> {
  const copy = await disk.read(join(dirname(kubeletExits), STARTED_FILE)).catch(() => undefined);
  return copy && sha256(copy);
}

async function stateOf(unit: string, exec: AgentWorld['exec']): Promise<Running> {
  const { code, stdout } = await exec('systemctl', ['show', '-P', 'ActiveState', '--', unit]);
  const state = stdout.trim();
  if (code === null || ['active', 'reloading', ''].includes(state)) return true;
  if (state !== 'activating') return false;
  // Between two starts (auto-restart) no kubelet runs.
  const { stdout: subState } = await exec('systemctl', ['show', '-P', 'SubState', '--', unit]);
  return ['start', 'start-post'].includes(subState.trim()) ? 'starting' : false;
}

/** Whether systemd accepts a restart of the unit: false if it is masked or has RefuseManualStart= or RefuseManualStop=; undefined if unknown. */
export async function canRestart(unit: string, exec: AgentWorld['exec']): Promise<boolean | undefined> {
  const { stdout } = await exec('systemctl', ['show', '-p', 'CanStart', '-p', 'CanStop', '--', unit]);
  const property = propertiesOf(stdout);
  const all = [property('CanStart'), property('CanStop')];
  return all.includes('') ? undefined : all.every((can) => can === 'yes');
}

/** How long a stopping agent waits for the kubelet to stop, in ms. systemd limits the whole stop to 10 s. */
const KUBELET_STOP_WAIT_MS: Millis = 4000;
const POLL_MS: Millis = 200;

/**
 * Whether no kubelet runs when this agent ends, so that a later machine crash cannot be the kubelet's fault. In a shutdown the kubelet is stopped
 * first; where the two units are not ordered the agent waits. Without a unit the machine must be shutting down and the kubelet's /healthz silent.
 * @param isSilent - whether no kubelet answers
 */
export async function isKubeletDown(
  { kubeletUnit }: Pick<AgentOptions, 'kubeletUnit'>,
  { exec, clock }: Pick<AgentWorld, 'exec' | 'clock'>,
  isSilent: () => Promise<boolean>,
): Promise<boolean> {
  const systemctl = async (...args: string[]): Promise<string> => (await exec('systemctl', args)).stdout.trim();
  const isDown = async (): Promise<boolean> =>
    kubeletUnit === '' ? isSilent() : ['inactive', 'failed'].includes(await systemctl('show', '-P', 'ActiveState', '--', kubeletUnit));
  if (kubeletUnit !== '' && (await isDown())) return true;
  if ((await systemctl('is-system-running')) !== 'stopping') return false;
  for (let waited = 0; waited <= KUBELET_STOP_WAIT_MS; waited += POLL_MS) {
    if (await isDown()) return true;
    await clock.sleep(POLL_MS);
  }
  return false;
}

// Parsers for systemd's output about a unit. Pure.

/** `Environment=` as `systemctl show` prints it: separated by spaces, an assignment with a space in quotes. */
export function parseEnvironment(text: string): Record<string, string> {
  return Object.fromEntries(splitWords(text).flatMap((word) => assignment(word)));
}

/** An EnvironmentFile: one assignment per line, `#` and `;` begin comments. */
export function parseEnvironmentFile(text: string): Record<string, string> {
  const lines = text.split('\n').map((line) => line.trim());
  return Object.fromEntries(lines.filter((line) => line !== '' && !/^[#;]/.test(line)).flatMap((line) => assignment(line)));
}

function assignment(word: string): [string, string][] {
  const at = word.indexOf('=');
  return at <= 0 ? [] : [[word.slice(0, at), splitWords(word.slice(at + 1)).join(' ')]];
}

/** Paths from `EnvironmentFiles=`: `/var/lib/kubelet/kubeadm-flags.env (ignore_errors=yes)`, one per line. */
export function environmentFilesOf(text: string): string[] {
  return [...text.matchAll(/^(\S.*?) \(ignore_errors=(?:yes|no)\)$/gm)].flatMap(([, path]) => (path === undefined ? [] : [path]));
}

/** Values by name from the output of `systemctl show`: `NAME=VALUE` lines, some names on several lines. */
export function propertiesOf(shown: string): (name: string) => string {
  const lines = shown.split('\n');
  return (name) =>
    lines
      .filter((line) => line.startsWith(`${name}=`))
      .map((line) => line.slice(name.length + 1))
      .join('\n');
}

/** `argv[]=` from `ExecStart={ path=... ; argv[]=... ; ignore_errors=no ; ... }`; the last one, since an empty ExecStart= resets. */
export function execStartOf(text: string): string | undefined {
  return [...text.matchAll(/argv\[\]=(.*?) ; ignore_errors=/g)].at(-1)?.[1];
}

/**
 * The arguments with which systemd would start the program: `$NAME` as a separate word splits at spaces, `${NAME}` does not.
 * @returns program first
 */
export function expandCommandLine(argv: string, environment: Readonly<Record<string, string>>): string[] {
  return splitWords(argv).flatMap((word) => {
    const whole = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1];
    if (whole !== undefined) return splitWords(environment[whole] ?? '');
    return [word.replace(/\$\{([A-Za-z_]\w*)\}/g, (_all, name: string) => environment[name] ?? '')];
  });
}

/** Splits at spaces; single and double quotes hold a word together, a backslash takes the next character literally. */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\' && quote !== "'" && at + 1 < text.length) word = (word ?? '') + text.charAt(++at);
    else if (quote !== '' ? char === quote : char === '"' || char === "'") {
      quote = quote === '' ? char : '';
      word ??= '';
    } else if (quote === '' && /\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  return word === undefined ? words : [...words, word];
}

/** Value of the last `NAME=VALUE` or `NAME VALUE` on a command line, as a kubelet reads it; undefined where there is none. */
export function flagInArgs(name: string, args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg === name ? args[at + 1] : arg.slice(name.length + 1);
}
