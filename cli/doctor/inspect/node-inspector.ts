import { lstat, readlink, statfs } from 'node:fs/promises';
import { type Hello, helloOf } from './server.ts';
import { type Properties, unitProperties } from './units.ts';
import { seen, type Seen, the, Unseen } from '../check.ts';
import type { AgentOptions } from '../../../agent/options.ts';
import { readForKubelet } from '../../../agent/drift/observe.ts';
import { readDropIns } from '../../../agent/evaluate/node-inputs.ts';
import { applyDefaults, applyFlags, closestKubeletVersion, decode, type DropIns, withDropIns } from '../../../agent/config/config.ts';
import type { JsonObject, KubeletFacts } from '../../../agent/config/contract.ts';
import { problemText } from '../../../agent/evaluate/local.ts';
import { argsOfFile, type CommandLine, startedAs } from '../../../agent/host/kubelet.ts';
import { type HealthProbe, probeHealth } from '../../../agent/trial/health.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';
import type { Context } from '../../command.ts';

/** Reads of the host that Context does not offer. */
export interface HostReads {
  free(path: string): Promise<{ bytes: number; /** null: the file system has no such number. */ files: number | null }>;
  /** Owner and mode of the path itself; does not follow a link. */
  owner(path: string): Promise<{ uid: number; gid: number; mode: number }>;
  /** Target of a symbolic link. */
  link(path: string): Promise<string>;
  hello(access: ClusterAccess, signal: AbortSignal): Promise<Hello>;
  probe: HealthProbe;
}

export const realHost: HostReads = {
  async free(path) {
    const { bavail, bsize, files, ffree } = await statfs(path);
    return { bytes: bavail * bsize, files: files === 0 ? null : ffree };
  },
  async owner(path) {
    const { uid, gid, mode } = await lstat(path);
    return { uid, gid, mode: mode & 0o7777 };
  },
  link: (path) => readlink(path),
  hello: helloOf,
  probe: probeHealth,
};

/** Reads a node for `dkc doctor`. Facts that several topics need are read once. */
export class NodeInspector {
  readonly context: Context;
  readonly options: AgentOptions;
  readonly host: HostReads;
  /** Why the agent's settings could not be read; the options are then the defaults. */
  readonly settingsProblem: string | undefined;
  readonly settingsFile: string;
  #kubeletUnit: Promise<Seen<Properties>> | undefined;
  #started: Promise<Seen<CommandLine>> | undefined;
  #version: Promise<Seen<string>> | undefined;
  #effective: Promise<Seen<EffectiveConfig>> | undefined;

  constructor(context: Context, options: AgentOptions, about: { settingsFile: string; settingsProblem?: string; host?: HostReads }) {
    this.context = context;
    this.options = options;
    this.host = about.host ?? realHost;
    this.settingsFile = about.settingsFile;
    this.settingsProblem = about.settingsProblem;
  }

  /** Properties of the kubelet's unit. */
  kubeletUnit(): Promise<Seen<Properties>> {
    const { kubeletUnit } = this.options;
    this.#kubeletUnit ??=
      kubeletUnit === ''
        ? Promise.resolve({ unseen: 'kubeletUnit is empty: dkc restarts no kubelet here' })
        : seen(() => unitProperties(this.context, kubeletUnit));
    return this.#kubeletUnit;
  }

  /** The command line with which systemd would start the kubelet now. */
  started(): Promise<Seen<CommandLine>> {
    this.#started ??= seen(async () => {
      const unit = the(await this.kubeletUnit());
      const { ExecStart: execStart = '', Environment: environment = '', EnvironmentFiles: environmentFiles = '' } = unit;
      const line = await startedAs({ execStart, environment, environmentFiles }, this.context.disk);
      if (line === undefined) throw new Unseen(`${this.options.kubeletUnit} has no ExecStart=`);
      return line;
    });
    return this.#started;
  }

  /** Version that the kubelet's binary prints: `v1.36.3`. */
  version(): Promise<Seen<string>> {
    this.#version ??= seen(async () => {
      const { program = '' } = the(await this.started());
      const { stdout, stderr } = await this.context.exec(program, ['--version'], { timeoutMs: 5000, signal: this.context.signal });
      const found = /^Kubernetes (v\S+)/.exec(stdout)?.[1];
      if (found === undefined) throw new Unseen(`${program} --version says: ${(stdout || stderr).trim().slice(0, 200)}`);
      return found;
    });
    return this.#version;
  }

  /** Version and arguments of the kubelet; a version in the settings wins, and with `kubeletArgs` the arguments come from that file. */
  async kubelet(): Promise<KubeletFacts> {
    const { kubeletVersion, kubeletArgs } = this.options;
    const told = kubeletVersion ?? the(await this.version());
    const { version } = closestKubeletVersion(told);
    if (kubeletArgs !== undefined) return { version, args: await argsOfFile(kubeletArgs, this.context.disk) };
    const line = await this.started();
    return { version, args: 'seen' in line ? line.seen.args : [] };
  }

  /** The configuration that the kubelet uses, or will use after its next start: file, drop-ins, flags and defaults. */
  effective(): Promise<Seen<EffectiveConfig>> {
    this.#effective ??= seen(async () => {
      const kubelet = await this.kubelet();
      const { effectiveConfig } = this.options;
      const decoded = decode(await readForKubelet(this.options, this.context.disk), kubelet.version);
      if (!decoded.ok) throw new Unseen(`${effectiveConfig}: ${problemText(decoded.errors)}`);
      const dropIns = await readDropIns(this.context.disk, kubelet);
      const merged = withDropIns(decoded.written, dropIns, kubelet);
      const defaulted = applyDefaults(applyFlags(merged, kubelet.args, kubelet.version).merged, kubelet.version);
      return { written: decoded.written, defaulted, dropIns, kubelet };
    });
    return this.#effective;
  }
}

export interface EffectiveConfig {
  /** The effective file. */
  written: JsonObject;
  /** The effective file with drop-ins, flags and defaults. */
  defaulted: JsonObject;
  dropIns: DropIns | undefined;
  kubelet: KubeletFacts;
}
