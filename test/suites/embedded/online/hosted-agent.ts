import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import assert from 'node:assert/strict';
import type { Bell } from './bell.ts';
import { NAMESPACE, type Cluster } from './cluster.ts';
import { runAgent } from '../../../../agent/agent.ts';
import type { Source } from '../../../../agent/checkpoint/source.ts';
import { agentDefaults, type AgentOptions, type AgentWorld } from '../../../../agent/options.ts';
import { sha256 } from '../../../../agent/checkpoint/payload.ts';
import { parseActiveRecord, type ActiveRecord } from '../../../../agent/store/active-record.ts';
import { layout } from '../../../../agent/store/layout.ts';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { probeHealth } from '../../../../agent/trial/health.ts';
import { realClock, type Clock } from '../../../../base/clock.ts';
import type { Disk } from '../../../../base/disk.ts';
import { describeError } from '../../../../base/errors.ts';
import type { Locks } from '../../../../base/lock.ts';
import type { Fields, Log, LogLevel } from '../../../../base/log.ts';
import { seededRandom } from '../../../../base/random.ts';
import { intercepted, type Interceptor, type SeenCall } from '../../../support/simulated/intercepted.ts';
import { waitingLocks } from '../../../../cli/demo/fleet/memory-disk.ts';
import { unsyncedDisk } from '../../../support/unsynced-disk.ts';
import { fileWatcher } from '../../../../base/changing-files.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { kubeconfigSource } from '../../../../kube/client/access.ts';

/** A KubeletConfiguration of these fields. The machine that runs the tests may swap; that is not their subject. */
export const config = (fields: Readonly<Record<string, unknown>> = {}): string =>
  ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration', 'failSwapOn: false', ...Object.entries(fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`), ''].join('\n'); // prettier-ignore

export interface Said {
  level: LogLevel;
  text: string;
  fields: Fields;
}

/** More starts than any story needs: an agent that only leaves and starts again is found out, not waited for. */
const MAX_STARTS = 30;

type Setup = Partial<AgentOptions> & { clock?: Clock };

/**
 * The whole agent in this process, on a directory of its own and the real disk (but for the waits for its platters), with the rights of its node and no others. A supervisor
 * starts it again whenever it leaves with 0, as systemd does.
 */
export class HostedAgent {
  readonly name: string;
  readonly dir: string;
  readonly options: AgentOptions;
  readonly bell: Bell;
  readonly said: Said[] = [];
  readonly exitCodes: number[] = [];
  /** Calls of the client: `list nodes`, `watch configmaps`, `patch nodes/status`, `create events`. */
  readonly calls: string[] = [];
  /** One process has no use for the kernel's locks, and they cost a process each. */
  readonly locks: Locks = waitingLocks();
  starts = 0;
  readies = 0;
  readonly #clock: Clock;
  #failure: Error | undefined;
  #stop = new AbortController();
  #supervised: Promise<void> = Promise.resolve();

  private constructor(dir: string, options: AgentOptions, bell: Bell, clock: Clock) {
    this.name = options.nodeName;
    this.dir = dir;
    this.options = options;
    this.bell = bell;
    this.#clock = clock;
  }

  /** A node that the cluster knows, with an agent that is not started yet. */
  static async on(cluster: Cluster, setup: Setup = {}): Promise<HostedAgent> {
    const name = cluster.nextName();
    await cluster.addNode(name);
    const agent = await HostedAgent.standing(cluster.bell, { ...setup, nodeName: name });
    await writeFile(agent.options.kubeconfig ?? '', cluster.server.kubeconfig(name));
    return agent;
  }

  /** A node whose kubeconfig the caller writes. */
  static async standing(bell: Bell, { clock = realClock, ...over }: Setup): Promise<HostedAgent> {
    const dir = await mkdtemp(join(tmpdir(), 'dkc-online-'));
    const at = (...names: string[]): string => join(dir, ...names);
    await mkdir(at('local'));
    await writeFile(at('local', 'config.yaml'), config({ maxPods: 110 }));
    // The machine's own policy has no say in here.
    await writeFile(at('policy.yaml'), 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\n');
    const options: AgentOptions = {
      ...agentDefaults,
      nodeName: 'node-1',
      kubeconfig: at('kubeconfig'),
      dynamicConfigDir: at('dkc'),
      localConfig: at('local', 'config.yaml'),
      effectiveConfig: at('dkc', 'kubelet.yaml'),
      kubeletUnit: '',
      kubeletHealthz: '',
      kubeletExits: at('run', 'kubelet-exits'),
      kubeletVersion: '1.30',
      policy: at('policy.yaml'),
      metricsBindAddress: '',
      ...over,
    };
    await mkdir(at('run'));
    return new HostedAgent(dir, options, bell, clock);
  }

  start(): this {
    this.#stop = new AbortController();
    this.#supervised = this.#supervise(this.#stop.signal);
    return this;
  }

  /** Ends the agent as SIGTERM does, and keeps what it wrote. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#supervised;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await rm(this.dir, { recursive: true, force: true });
  }

  store(): FsStore {
    return new FsStore({ disk: unsyncedDisk, locks: this.locks, clock: realClock, root: this.options.dynamicConfigDir });
  }

  effective(): Promise<string> {
    return readFile(this.options.effectiveConfig, 'utf8');
  }

  /** What `dkc status` shows of this agent. */
  async activeRecord(): Promise<ActiveRecord | undefined> {
    const text = await readFile(layout(this.options.dynamicConfigDir).active, 'utf8').catch(() => '');
    const parsed = parseActiveRecord(text);
    return parsed.ok ? parsed.record : undefined;
  }

  /** A kubelet that ran on what is effective now has ended, as kubelet-stopped notes it. */
  async kubeletEnds(): Promise<void> {
    await appendFile(this.options.kubeletExits, `${new Date().toISOString()} exit-code exited 255 ${sha256(await this.effective())}\n`);
  }

  /** The field of the effective file, as it is written. */
  async effectiveField(field: string): Promise<string | undefined> {
    return new RegExp(`^${field}: (.*)$`, 'm').exec(await this.effective().catch(() => ''))?.[1];
  }

  until<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
    const lookOn = (): T | undefined | Promise<T | undefined> => {
      if (this.#failure) throw this.#failure;
      return look();
    };
    return this.bell.until(`${this.name}: ${what}`, lookOn, () => `\n${this.tail()}`);
  }

  /** Waits for a log line with this text. */
  says(text: string, from = 0): Promise<Said> {
    return this.until(`log line "${text}"`, () => this.said.slice(from).find((line) => line.text.startsWith(text)));
  }

  /** Waits until what it reports, in the shape of Node.status.config, is exactly this. */
  async reports(cluster: Cluster, wanted: unknown): Promise<void> {
    const seen = (): unknown => cluster.reported(this.name);
    await this.until('status', () => (isDeepStrictEqual(seen(), wanted) ? true : undefined)).catch((error: unknown) => {
      assert.deepEqual(seen(), wanted, describeError(error));
      throw error;
    });
  }

  /** Waits until this start of the agent is ready. */
  async ready(start = 1): Promise<void> {
    await this.until(`start ${start} of the agent to be ready`, () => (this.readies >= start ? true : undefined));
  }

  tail(): string {
    return this.said.slice(-25).map(({ level, text, fields }) => `  ${level} ${text} ${JSON.stringify(fields).slice(0, 300)}`).join('\n'); // prettier-ignore
  }

  async #supervise(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.starts += 1;
      if (this.starts > MAX_STARTS) {
        this.#failure = new Error(`the agent of ${this.name} was started ${this.starts} times\n${this.tail()}`);
        return this.bell.ring();
      }
      const code = await runAgent(this.options, this.#world(signal));
      this.exitCodes.push(code);
      this.bell.ring();
      if (code !== 0) return;
    }
  }

  #world(stop: AbortSignal): AgentWorld {
    const log = this.#log({});
    const disk = this.#disk();
    const clock = this.#clock;
    return {
      disk,
      locks: this.locks,
      clock,
      random: seededRandom(7),
      log,
      exec: () => Promise.resolve({ code: null, stdout: '', stderr: 'no programs in this test' }),
      watchFiles: fileWatcher(disk, clock, log),
      probe: probeHealth,
      notify: {
        ready: () => {
          this.readies += 1;
          this.bell.ring();
          return Promise.resolve();
        },
        status: () => Promise.resolve(),
        stopping: () => Promise.resolve(),
        keepAlive: () => Promise.resolve(),
      },
      connect: (kubeconfig) =>
        Promise.resolve(intercepted(createClient(kubeconfigSource(kubeconfig), { credentialCheckMs: 50 }), this.#counting)),
      version: '0.0.0',
      stop,
    };
  }

  readonly #counting: Interceptor = {
    call: (call, pass) => this.#counted(call, pass),
    watch: (call, pass) => this.#counted(call, pass),
  };

  #counted<T>({ verb, resource }: SeenCall, pass: () => T): T {
    this.calls.push(`${verb} ${resource}`);
    return pass();
  }

  #log(always: Fields): Log {
    const say = (level: LogLevel) => (text: string, fields: Fields = {}) => {
      const readable = Object.entries({ ...always, ...fields }).map(([name, value]) => [name, value instanceof Error ? describeError(value) : value]);
      this.said.push({ level, text, fields: Object.fromEntries(readable) as Fields });
      this.bell.ring();
    }; // prettier-ignore
    return {
      debug: say('debug'),
      info: say('info'),
      warn: say('warn'),
      error: say('error'),
      with: (fields) => this.#log({ ...always, ...fields }),
    };
  }

  /** Rings the bell at each change. */
  #disk(): Disk {
    const rung = async <T>(done: Promise<T>): Promise<T> => {
      const result = await done;
      this.bell.ring();
      return result;
    };
    return {
      ...unsyncedDisk,
      makeDir: (...args) => rung(unsyncedDisk.makeDir(...args)),
      replace: (...args) => rung(unsyncedDisk.replace(...args)),
      replaceDir: (...args) => rung(unsyncedDisk.replaceDir(...args)),
      append: (...args) => rung(unsyncedDisk.append(...args)),
      rename: (...args) => rung(unsyncedDisk.rename(...args)),
      remove: (...args) => rung(unsyncedDisk.remove(...args)),
    };
  }
}

/** A source as status.config writes it. */
export function sourceOf({ metadata }: KubeObject, kubeletConfigKey = 'kubelet'): { configMap: Source } {
  const { namespace = NAMESPACE, name = '', uid = '', resourceVersion = '' } = metadata;
  return { configMap: { namespace, name, uid, resourceVersion, kubeletConfigKey } };
}
