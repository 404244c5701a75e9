import { basename, dirname, join } from 'node:path';
import { type ConfigFlag, type DriftFacts, isKubelet, type UnitFacts } from './plan.ts';
import { VolatileFile } from '../boot/volatile-file.ts';
import { flagInArgs, propertiesOf, STARTED_FILE, startOf } from '../host/unit.ts';
import { learnKubelet, startedAs, VersionRecord } from '../host/kubelet.ts';
import type { AgentContext, AgentOptions, AgentWorld } from '../options.ts';
import { sha256 } from '../checkpoint/payload.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import { decode, differingFields, newestKubeletVersion, readConfigz } from '../config/config.ts';
import { readDropIns } from '../evaluate/node-inputs.ts';
import { layout } from '../store/layout.ts';
import type { Millis } from '../../base/clock.ts';
import { silentLog } from '../../base/log.ts';

export interface DriftDeps {
  options: Pick<AgentOptions, 'effectiveConfig' | 'kubeletUnit' | 'kubeletExits'>;
  world: Pick<AgentWorld, 'disk' | 'exec'>;
  /** SHA-256 of the effective file that the agent wrote; '' where it wrote none, so that nothing can differ. */
  wroteSha256: string;
  /** False where boot kept an existing file that the agent had not written, for lack of a config. */
  isWrittenByAgent: boolean;
}

/** Reads the effective file, the kubelet's unit, its process, and the file with which it was started. Never throws for a file that cannot be read. */
export async function observeDrift({ options, world, wroteSha256, isWrittenByAgent }: DriftDeps): Promise<DriftFacts> {
  const { effectiveConfig: path, kubeletUnit } = options;
  if (wroteSha256 === '') return { path };
  const effective = isWrittenByAgent ? await inspectFile(options, world, wroteSha256) : undefined;
  const file = effective === undefined ? {} : { effective };
  if (kubeletUnit === '') return { path, ...file };
  const unit = await inspectUnit(options, world);
  return { path, ...file, ...(unit ? { unit } : {}), start: await startOf(wroteSha256, options, world) };
}

async function inspectFile(
  options: DriftDeps['options'],
  { disk }: DriftDeps['world'],
  wroteSha256: string,
): Promise<DriftFacts['effective'] | undefined> {
  try {
    return sha256(await readForKubelet(options, disk)) === wroteSha256 ? 'as-written' : 'changed';
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return 'missing';
    // Too large, or a link or directory in its place: the agent did not write that. Any other error is a disk failure.
    return error instanceof RangeError || ['EISDIR', 'ELOOP', 'EINVAL'].includes(errorCode(error) ?? '') ? 'changed' : undefined;
  }
}

/** The file that the agent wrote for the kubelet: the effective file, or its replacement in /run while the disk is not writable. @throws as `disk.read` */
export async function readForKubelet(options: DriftDeps['options'], disk: AgentWorld['disk']): Promise<Uint8Array> {
  const volatileFile = options.kubeletUnit === '' ? undefined : await new VolatileFile(options, disk).read();
  return volatileFile ?? disk.read(options.effectiveConfig);
}

const PROPERTIES = ['LoadState', 'MainPID', 'ExecStartPre', 'ExecStart', 'Environment', 'EnvironmentFiles'];
const SYSTEMCTL_TIMEOUT_MS = 2000;

/** undefined where systemd does not answer, or the unit is not loaded. */
async function inspectUnit(options: DriftDeps['options'], { disk, exec }: DriftDeps['world']): Promise<UnitFacts | undefined> {
  const { kubeletUnit: unit, kubeletExits } = options;
  const args = ['show', ...PROPERTIES.flatMap((name) => ['-p', name]), '--', unit];
  const { code, stdout } = await exec('systemctl', args, { timeoutMs: SYSTEMCTL_TIMEOUT_MS });
  const property = propertiesOf(stdout);
  if (code !== 0 || property('LoadState') !== 'loaded') return undefined;
  const shown = {
    execStart: property('ExecStart'),
    environment: property('Environment'),
    environmentFiles: property('EnvironmentFiles'),
  };
  const next = await startedAs(shown, disk);
  if (next === undefined) return undefined;
  const isEffective = await samePlaceAs(options, disk);
  const configOf = (args: readonly string[]): Promise<ConfigFlag | null> => configFlagOf(args, isEffective);
  const [program, ...running] = await commandLineOf(property('MainPID'), disk);
  return {
    unit,
    ...(program === undefined ? {} : { running: { program, config: await configOf(running) } }),
    next: await configOf(next.args),
    hasDropIn: property('ExecStartPre').includes(join(dirname(kubeletExits), STARTED_FILE)),
  };
}

async function configFlagOf(args: readonly string[], isEffective: (path: string) => Promise<boolean>): Promise<ConfigFlag | null> {
  const path = flagInArgs('--config', args);
  return path === undefined ? null : { path, isEffective: await isEffective(path) };
}

/**
 * Whether the running kubelet was started with another `--config` than the effective file, or without one: then its health is no evidence about that
 * file. False for a program that is not called kubelet: k3s and scripts have other flags, so it is unknown what they read.
 */
export async function readsAnotherFile(options: DriftDeps['options'], { disk, exec }: DriftDeps['world']): Promise<boolean> {
  if (options.kubeletUnit === '') return false;
  const { stdout } = await exec('systemctl', ['show', '-P', 'MainPID', '--', options.kubeletUnit], { timeoutMs: SYSTEMCTL_TIMEOUT_MS });
  const [program, ...args] = await commandLineOf(stdout.trim(), disk);
  if (program === undefined || !isKubelet(program)) return false;
  return (await configFlagOf(args, await samePlaceAs(options, disk)))?.isEffective !== true;
}

/** Longest command line that is read, in bytes; the kernel's own limit for one argument. */
const MAX_COMMAND_LINE = 128 * 1024;

/** The command line of a process, program first; empty where it has ended, or may not be read. */
export async function commandLineOf(pid: string, disk: Pick<AgentWorld['disk'], 'read'>): Promise<string[]> {
  if (!/^[1-9]\d*$/.test(pid)) return [];
  const bytes = await disk.read(`/proc/${pid}/cmdline`, MAX_COMMAND_LINE).catch(() => new Uint8Array());
  const text = new TextDecoder().decode(bytes);
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** Whether a path is the file that the agent writes for the kubelet, also through links to its directory. */
export async function samePlaceAs(options: DriftDeps['options'], disk: AgentWorld['disk']): Promise<(path: string) => Promise<boolean>> {
  const real = async (path: string): Promise<string> => join(await disk.realPath(dirname(path)).catch(() => dirname(path)), basename(path));
  const ours = [options.effectiveConfig, new VolatileFile(options, disk).config];
  const realOurs = await Promise.all(ours.map(real));
  return async (path) => ours.includes(path) || realOurs.includes(await real(path));
}

export interface ConfigzDeps {
  options: Pick<
    AgentOptions,
    | 'dynamicConfigDir'
    | 'effectiveConfig'
    | 'kubeletExits'
    | 'kubeconfig'
    | 'kubeletArgs'
    | 'kubeletConfigz'
    | 'kubeletUnit'
    | 'kubeletVersion'
    | 'nodeName'
  >;
  world: Pick<AgentWorld, 'disk' | 'exec' | 'clock' | 'log' | 'fetchFromKubelet'>;
  activeRecord: Pick<AgentContext['activeRecord'], 'notice'>;
}

/** Time between two requests to /configz, in ms. A difference is confirmed by another request before it is reported. */
const FETCH_MS: Millis = 300_000;
/** Failures in a row, about a minute apart, after which the failure is reported. */
const NOTICE_AFTER_FAILURES = 2;

/** Compares the configuration that the kubelet reports (`--kubelet-configz`) with the effective file. */
export class ConfigzCheck {
  readonly #deps: ConfigzDeps;
  #fetchedAt: Millis = Number.NEGATIVE_INFINITY;
  #fields: readonly string[] | undefined;
  /** In a row. */
  #failures = 0;

  constructor(deps: ConfigzDeps) {
    this.#deps = deps;
  }

  /** Drops the last answer: the kubelet was restarted, or runs on another file. */
  forget(): void {
    this.#fields = undefined;
    this.#fetchedAt = Number.NEGATIVE_INFINITY;
  }

  /**
   * Names of the fields that differ, by the last answer; undefined where there is none, or the check is off.
   * @param force - sends a request even if the last answer is younger than {@link FETCH_MS}
   */
  async fields(force: boolean): Promise<readonly string[] | undefined> {
    const { options, world, activeRecord } = this.#deps;
    if (options.kubeletConfigz === '' || options.kubeconfig === undefined || !world.fetchFromKubelet) return undefined;
    const now = world.clock.monotonic();
    if (!force && now - this.#fetchedAt < FETCH_MS) return this.#fields;
    try {
      await this.#readConfigz(world.fetchFromKubelet, options.kubeconfig);
      this.#fetchedAt = now;
      if (this.#failures >= NOTICE_AFTER_FAILURES) activeRecord.notice('configz', null);
      this.#failures = 0;
    } catch (error) {
      // A kubelet that has just started does not listen yet.
      this.#failures += 1;
      if (this.#failures === NOTICE_AFTER_FAILURES) {
        const problem = `the kubelet is not compared with the effective file: ${options.kubeletConfigz}: ${describeError(error)}`;
        activeRecord.notice('configz', problem);
        world.log.warn('failed to compare the kubelet with the effective file, retrying', { url: options.kubeletConfigz, error });
      }
    }
    return this.#fields;
  }

  async #readConfigz(fetchFromKubelet: NonNullable<AgentWorld['fetchFromKubelet']>, kubeconfig: string): Promise<void> {
    const { options, world } = this.#deps;
    const { disk, exec } = world;
    const memo = new VersionRecord(disk, layout(options.dynamicConfigDir).kubeletVersion, silentLog);
    // Read at every request: the kubelet may be upgraded while the agent runs.
    const kubelet = await learnKubelet({ options, disk, exec, log: silentLog, memo });
    if (kubelet.version === newestKubeletVersion || kubelet.newer !== undefined)
      throw new Error('the version of the kubelet is unknown, or newer than the versions that this agent supports');
    const { version, args } = kubelet;
    const decoded = decode(await readForKubelet(options, disk), version);
    if (!decoded.ok) throw new Error('the effective file is not a configuration of this kubelet version');
    const dropIns = await readDropIns(disk, kubelet);
    const answer = await fetchFromKubelet(options.kubeletConfigz, { kubeconfig, nodeName: options.nodeName });
    const read = readConfigz(JSON.stringify(answer) ?? '', version);
    if (!read.ok) throw new Error(read.problem);
    const question = { local: decoded.written, dynamic: null, merge: 'replace', args, version, running: read.config } as const;
    this.#fields = differingFields(dropIns ? { ...question, dropIns } : question);
  }
}
