import { runAgent } from '../../../agent/agent.ts';
import { agentDefaults, type AgentOptions, type AgentWorld } from '../../../agent/options.ts';
import type { Clock, Millis } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import type { Client } from '../../../kube/client/client.ts';
import { MemoryDisk, waitingLocks } from './memory-disk.ts';
import type { Ended } from '../service.ts';
import { exitLine } from '../supervisor.ts';
import { sha256 } from '../../../agent/checkpoint/payload.ts';

/** Agent options that differ from the defaults, and systemd's delay before it restarts an agent. */
export interface Pace extends Pick<AgentOptions, 'trialDuration' | 'unhealthyDeadline' | 'maxKubeletExits' | 'syncInterval'> {
  restartMs: Millis;
}

interface LightNodeDeps {
  name: string;
  kubeletVersion: string;
  /** The local config. */
  localConfig: string;
  pace: Pace;
  clock: Clock;
  random: Random;
  version: string;
  /** Shared by many nodes: an agent that exits does not close it. */
  client: Client;
  fatal: (config: Uint8Array) => string | undefined;
  onKubelet: (state: 'up' | 'crashed') => void;
}

/**
 * A lightweight node: the real agent, an in-memory disk, a fake kubelet, and as much of systemd as both need: it restarts the agent whenever the agent
 * exits, and hands over to the kubelet.
 */
export class LightNode {
  readonly name: string;
  readonly kubelet: PlayedKubelet;
  readonly #deps: LightNodeDeps;
  readonly #disk: MemoryDisk;
  readonly #options: AgentOptions;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  agentStarts = 0;

  constructor(deps: LightNodeDeps) {
    this.#deps = deps;
    this.name = deps.name;
    this.#disk = new MemoryDisk(() => deps.clock.now());
    const { restartMs: _, ...pace } = deps.pace;
    this.#options = {
      ...agentDefaults,
      ...pace,
      nodeName: deps.name,
      kubeconfig: '/etc/dkc/kubeconfig',
      // Without a unit the agent does not query systemd; this class hands over to the kubelet.
      kubeletUnit: '',
      kubeletVersion: deps.kubeletVersion,
      trialHealth: 'kubelet',
      policy: 'none',
      metricsBindAddress: '',
    };
    this.kubelet = new PlayedKubelet({
      clock: deps.clock,
      read: () => this.#disk.read(this.#options.effectiveConfig).catch(() => undefined),
      fatal: deps.fatal,
      appendExit: (line) => this.#disk.append(this.#options.kubeletExits, new TextEncoder().encode(line)),
      onState: deps.onKubelet,
    });
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    this.kubelet.stop();
  }

  async #run(): Promise<void> {
    const { clock, pace, localConfig } = this.#deps;
    const { signal } = this.#ending;
    await this.#plant(this.#options.localConfig, localConfig);
    // Preflight requires cgroup v2, as on current hosts.
    await this.#plant('/sys/fs/cgroup/cgroup.controllers', 'cpuset cpu io memory pids\n');
    await this.#plant('/proc/sys/kernel/random/boot_id', 'the-only-boot\n');
    await this.#disk.makeDir('/run/dkc');
    while (!signal.aborted) {
      this.agentStarts += 1;
      await runAgent(this.#options, this.#world(signal));
      await clock.sleep(pace.restartMs, signal).catch(() => {});
    }
  }

  async #plant(path: string, text: string): Promise<void> {
    await this.#disk.makeDir(path.slice(0, path.lastIndexOf('/')));
    await this.#disk.replace(path, new TextEncoder().encode(text));
  }

  #world(stop: AbortSignal): AgentWorld {
    const { clock, random, version, client } = this.#deps;
    return {
      disk: this.#disk,
      locks: waitingLocks(),
      clock,
      random,
      log: silentLog,
      exec: async () => ({ code: 1, stdout: '', stderr: 'no programs here' }),
      watchFiles: (paths, onChange, signal) => this.#disk.watch(paths, onChange, signal),
      probe: async () => ({ healthy: this.kubelet.healthy, detail: this.kubelet.healthy ? 'ok' : 'connection refused' }),
      notify: { ready: () => this.kubelet.sync(), status: async () => {}, stopping: async () => {}, keepAlive: async () => {} },
      connect: async () => ({ ...delegated(client), close: async () => {} }),
      version,
      stop,
    };
  }
}

/** The shared client for one node, without `close`. */
function delegated(client: Client): Omit<Client, 'close'> {
  return {
    get: (resource, ref, options) => client.get(resource, ref, options),
    list: (resource, query, options) => client.list(resource, query, options),
    listEach: (resource, query, each, options) => client.listEach(resource, query, each, options),
    create: (resource, object, options) => client.create(resource, object, options),
    post: (resource, ref, subresource, body, options) => client.post(resource, ref, subresource, body, options),
    replace: (resource, object, options) => client.replace(resource, object, options),
    patch: (resource, ref, patch, options) => client.patch(resource, ref, patch, options),
    delete: (resource, ref, options) => client.delete(resource, ref, options),
    watch: (resource, query, signal) => client.watch(resource, query, signal),
    raw: (method, path, options) => client.raw(method, path, options),
  };
}

interface PlayedKubeletDeps {
  clock: Pick<Clock, 'now' | 'after'>;
  /** Reads the effective file; undefined if it does not exist. */
  read: () => Promise<Uint8Array | undefined>;
  /** Why a kubelet of this node crashes with this configuration; undefined: it does not. */
  fatal: (config: Uint8Array) => string | undefined;
  /** Appends a line to the exits file. */
  appendExit: (line: string) => Promise<void>;
  /** Called when the kubelet runs, and when it has crashed. */
  onState: (state: 'up' | 'crashed') => void;
}

/** Time from the start of a kubelet with a fatal configuration to its crash, and from the crash to the restart. */
const DIES_AFTER_MS: Millis = 200;
const RESTART_MS: Millis = 300;

/** A fake kubelet and its unit, as an agent sees them: it reads the effective file at each start, and crash-loops if this configuration is fatal. */
class PlayedKubelet {
  readonly #deps: PlayedKubeletDeps;
  #startedOn: string | undefined;
  #healthy = false;
  #stopTimer: () => void = () => {};
  /** Incremented by each start and stop: callbacks of an earlier life are ignored. */
  #life = 0;
  starts = 0;

  constructor(deps: PlayedKubeletDeps) {
    this.#deps = deps;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  /** Like `kubelet-sync` after each start of the agent: starts a stopped kubelet, and restarts one that was started with another file. */
  async sync(): Promise<void> {
    const config = await this.#deps.read();
    if (config === undefined || sha256(config) === this.#startedOn) return;
    if (this.#startedOn !== undefined) await this.#note({ result: 'success', code: 'killed', status: 'TERM' });
    await this.#start();
  }

  stop(): void {
    this.#life += 1;
    this.#stopTimer();
    this.#healthy = false;
  }

  async #start(): Promise<void> {
    this.stop();
    const life = this.#life;
    const { read, fatal, clock, onState } = this.#deps;
    const config = await read();
    if (config === undefined || life !== this.#life) return;
    this.#startedOn = sha256(config);
    this.starts += 1;
    if (fatal(config) === undefined) {
      this.#healthy = true;
      onState('up');
    } else this.#stopTimer = clock.after(DIES_AFTER_MS, () => void this.#die(life));
  }

  async #die(life: number): Promise<void> {
    if (life !== this.#life) return;
    this.#deps.onState('crashed');
    await this.#note({ result: 'exit-code', code: 'exited', status: '1' });
    if (life === this.#life) this.#stopTimer = this.#deps.clock.after(RESTART_MS, () => void this.#start());
  }

  #note(ended: Ended): Promise<void> {
    return this.#deps.appendExit(exitLine(ended, this.#deps.clock.now(), this.#startedOn ?? '-'));
  }
}
