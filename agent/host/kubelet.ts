import { environmentFilesOf, execStartOf, expandCommandLine, parseEnvironment, parseEnvironmentFile } from './unit.ts';
import { newestKubeletVersion, parseKubeletHelp } from '../config/config.ts';
import type { KubeletFacts } from '../config/contract.ts';
import { closestKubeletVersion } from '../config/version.ts';
import type { AgentOptions } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import { ActionError, describeError } from '../../base/errors.ts';
import type { Exec } from '../../base/exec.ts';
import type { Log } from '../../base/log.ts';

export interface KubeletDeps {
  options: Pick<AgentOptions, 'kubeletUnit' | 'kubeletVersion' | 'kubeletArgs'>;
  disk: Pick<Disk, 'readLinked'>;
  exec: Exec;
  log: Log;
  /** The saved version; absent for commands, which write nothing. */
  memo?: VersionRecord;
}

// Runs before READY, and systemd limits the whole start to 15 s.
const VERSION_TIMEOUT_MS = 3000;
const SYSTEMCTL_TIMEOUT_MS = 2000;

/** How the kubelet is started, as far as its unit shows. */
export interface CommandLine {
  program?: string;
  args: string[];
}

/** Facts about the kubelet, read from this node. */
export interface LearnedKubelet extends KubeletFacts {
  /** The kubelet's version, where it is newer than all versions that this agent knows; then `version` is the newest known one. */
  newer?: string;
}

/**
 * Facts about this node's kubelet without the API server: version from flag or binary, arguments from file or unit. Failures are logged; the newest
 * version that this agent knows is used in place of an unknown one.
 * A kubelet that is newer than all known versions is treated as the newest known version, and never ends the agent.
 * @throws ActionError for an invalid version flag or an unreadable arguments file: a wrong setting must not be replaced by a guess
 */
export async function learnKubelet(deps: KubeletDeps): Promise<LearnedKubelet> {
  const { options, log } = deps;
  const given = options.kubeletVersion === undefined ? undefined : closestKubeletVersion(options.kubeletVersion);
  const line = await commandLine(deps);
  const learned = given ?? (line.program === undefined ? undefined : await versionOf(line.program, deps)) ?? (await fromMemo(deps));
  if (learned?.newer !== undefined)
    log.warn('kubelet is newer than the versions that this agent supports', {
      version: learned.newer,
      validatedAs: learned.version.text,
    });
  if (!learned)
    log.warn('kubelet version is not known yet, waiting for the Node; or set --kubelet-version', { assuming: newestKubeletVersion.text });
  return { ...(learned ?? { version: newestKubeletVersion }), args: line.args };
}

/** Adds the flags and feature gates that the binary's `--help` lists. Slow (it starts a kubelet), so only preflight runs it. */
export async function readKubeletHelp(facts: KubeletFacts, deps: KubeletDeps): Promise<KubeletFacts> {
  const { program } = await commandLine(deps);
  if (program === undefined) return facts;
  const { code, stdout, stderr } = await deps.exec(program, ['--help'], { timeoutMs: 10_000 });
  const help = parseKubeletHelp(stdout === '' ? stderr : stdout);
  if (code !== 0 || help.knownFlags.size === 0) {
    deps.log.warn('the kubelet does not list its flags', { program, code });
    return facts;
  }
  return { ...facts, ...help };
}

async function versionOf(program: string, { exec, log, memo }: KubeletDeps): Promise<ReturnType<typeof closestKubeletVersion> | undefined> {
  const known = await memo?.of(program);
  const { stdout, stderr } =
    known === undefined ? await exec(program, ['--version'], { timeoutMs: VERSION_TIMEOUT_MS }) : { stdout: '', stderr: '' };
  const text = known ?? /^Kubernetes (v\S+)/.exec(stdout)?.[1];
  if (text === undefined) {
    log.warn('cannot parse kubelet --version', { program, answer: (stdout || stderr).slice(0, 200) });
    return undefined;
  }
  try {
    const version = closestKubeletVersion(text);
    if (known === undefined) await memo?.remember(text, program);
    return version;
  } catch (error) {
    log.warn('the version of the kubelet is not one that this agent supports', { program, error: describeError(error) });
    return undefined;
  }
}

/** The saved version: a kubelet whose version cannot be read now is most likely unchanged. */
async function fromMemo({ memo, log }: KubeletDeps): Promise<ReturnType<typeof closestKubeletVersion> | undefined> {
  const text = await memo?.last();
  if (text === undefined) return undefined;
  try {
    return closestKubeletVersion(text);
  } catch (error) {
    log.warn('saved kubelet version cannot be used', { error: describeError(error) });
    return undefined;
  }
}

/** Arguments from the file of `--kubelet-args`, else from the unit as systemd would start it. */
export async function commandLine({ options, disk, exec, log }: KubeletDeps): Promise<CommandLine> {
  const unit = options.kubeletUnit === '' ? undefined : await unitCommandLine(options.kubeletUnit, disk, exec, log);
  const program = unit?.program;
  if (options.kubeletArgs === undefined) return unit ?? { args: [] };
  return { ...(program === undefined ? {} : { program }), args: await argsOfFile(options.kubeletArgs, disk) };
}

/** The arguments in the file that `kubeletArgs` names. @throws ActionError where it cannot be read */
export async function argsOfFile(path: string, disk: Pick<Disk, 'readLinked'>): Promise<string[]> {
  try {
    const lines = new TextDecoder().decode(await disk.readLinked(path)).split('\n');
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  } catch (cause) {
    const hint = 'write one argument a line, or drop --kubelet-args';
    throw new ActionError('read the arguments of the kubelet from', path, { hint, cause });
  }
}

async function unitCommandLine(unit: string, disk: Pick<Disk, 'readLinked'>, exec: Exec, log: Log): Promise<CommandLine | undefined> {
  const show = async (property: string): Promise<string> =>
    (await exec('systemctl', ['show', '-P', property, '--', unit], { timeoutMs: SYSTEMCTL_TIMEOUT_MS })).stdout.trim();
  const [execStart, environment, environmentFiles] = await Promise.all([show('ExecStart'), show('Environment'), show('EnvironmentFiles')]);
  const line = await startedAs({ execStart, environment, environmentFiles }, disk);
  if (line === undefined) log.warn('systemd does not report how the kubelet is started, assuming that it has no flags', { unit });
  return line;
}

/** Properties of a unit, as `systemctl show` prints their values. */
export interface UnitProperties {
  execStart: string;
  environment: string;
  environmentFiles: string;
}

/** How systemd would start a unit with these properties; undefined where it has no ExecStart=. */
export async function startedAs(
  { execStart, environment, environmentFiles }: UnitProperties,
  disk: Pick<Disk, 'readLinked'>,
): Promise<CommandLine | undefined> {
  const argv = execStartOf(execStart);
  if (argv === undefined) return undefined;
  const variables = parseEnvironment(environment);
  for (const path of environmentFilesOf(environmentFiles)) {
    const text = await disk.readLinked(path).then(
      (bytes) => new TextDecoder().decode(bytes),
      () => '',
    );
    Object.assign(variables, parseEnvironmentFile(text));
  }
  const [program, ...args] = expandCommandLine(argv, variables);
  return program === undefined ? undefined : { program, args };
}

/** `D/kubelet-version.json`: the last known version, and its binary, if it came from one. */
interface Remembered {
  version: string;
  /** Path, size and modification time of the binary; absent where the version came from the Node. */
  binary?: string;
}

/**
 * Saves the version of this node's kubelet. While the binary is unchanged, a start of the agent need not run `kubelet --version`. If that fails, the
 * saved version is used: validating for an assumed version could reject a good config.
 */
export class VersionRecord {
  readonly #disk: Pick<Disk, 'read' | 'replace' | 'stat'>;
  readonly #path: string;
  readonly #log: Log;

  constructor(disk: Pick<Disk, 'read' | 'replace' | 'stat'>, path: string, log: Log) {
    this.#disk = disk;
    this.#path = path;
    this.#log = log;
  }

  /** The saved version of this binary; undefined where the binary has changed, or is a link, whose size and time do not show a change. */
  async of(program: string): Promise<string | undefined> {
    const [known, binary] = await Promise.all([this.#read(), this.#identity(program)]);
    return binary !== undefined && known?.binary === binary ? known.version : undefined;
  }

  /** The saved version from any source. */
  async last(): Promise<string | undefined> {
    return (await this.#read())?.version;
  }

  /** @param program - the binary that printed the version; absent where it came from the Node */
  async remember(version: string, program?: string): Promise<void> {
    const binary = program === undefined ? undefined : await this.#identity(program);
    const now: Remembered = { version, ...(binary === undefined ? {} : { binary }) };
    const before = await this.#read();
    if (before?.version === version && (binary === undefined || before.binary === binary)) return;
    await this.#disk
      .replace(this.#path, new TextEncoder().encode(`${JSON.stringify(now)}\n`))
      .catch((error: unknown) => this.#log.warn('failed to save kubelet version', { path: this.#path, error }));
  }

  async #read(): Promise<Remembered | undefined> {
    try {
      const { version, binary } = JSON.parse(new TextDecoder().decode(await this.#disk.read(this.#path))) as Record<string, unknown>;
      if (typeof version !== 'string') return undefined;
      return { version, ...(typeof binary === 'string' ? { binary } : {}) };
    } catch {
      return undefined; // never written, or damaged: then it is determined again
    }
  }

  async #identity(program: string): Promise<string | undefined> {
    const stat = await this.#disk.stat(program).catch(() => undefined);
    return stat?.kind === 'file' ? `${program} ${stat.bytes} ${stat.modifiedMs}` : undefined;
  }
}
