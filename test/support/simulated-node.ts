import { once } from 'node:events';
import { join } from 'node:path';
import { CrashDisk } from './crash-disk.ts';
import { DiskFaults } from './disk-faults.ts';
import { FakeApi } from './fake-api.ts';
import { atRest, FakeClock } from './fake-clock.ts';
import { memoryLocks } from './memory-locks.ts';
import { SimulatedKubelet } from './simulated-kubelet.ts';
import { runAgent } from '../../agent/agent.ts';
import { observeNode } from '../../agent/admin/observe.ts';
import { decideRollback, executeRetry, executeRollback } from '../../agent/admin/rollback/execute.ts';
import { planRetry } from '../../agent/admin/retry.ts';
import type { MaybeSource, Source } from '../../agent/checkpoint/source.ts';
import { parseKubeletVersion } from '../../agent/config/config.ts';
import { READY_AT_MS } from '../../agent/run/notify.ts';
import { agentDefaults, type AgentOptions, type AgentWorld } from '../../agent/options.ts';
import { parseActiveRecord } from '../../agent/store/active-record.ts';
import { sha256 } from '../../agent/checkpoint/payload.ts';
import { FsStore } from '../../agent/store/fs-store.ts';
import { layout, volatileActive } from '../../agent/store/layout.ts';
import { parseJournal } from '../../agent/store/records.ts';
import type { Disk } from '../../base/disk.ts';
import type { Locks } from '../../base/lock.ts';
import { simulatedStatus } from './simulated-status.ts';
import { type Log, type LogLevel, silentLog } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import { nodes } from '../../kube/api/object.ts';

export const ROOT = '/var/lib/dkc';
export const LOCAL = '/var/lib/kubelet/config.yaml';
const POLICY = '/etc/dkc/policy.yaml';
const EXITS = '/run/dkc/kubelet-exits';
const STARTED = '/run/dkc/kubelet-started.yaml';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export const configYaml = (fields: Readonly<Record<string, string | number>>): string =>
  ['apiVersion: kubelet.config.k8s.io/v1beta1', 'kind: KubeletConfiguration', ...Object.entries(fields).map(([k, v]) => `${k}: ${v}`), ''].join('\n'); // prettier-ignore

/** `web@4`, with the key where it is not the usual one; `local` for none. */
function shortSource(source: MaybeSource): string {
  if (source === null) return 'local';
  const { name, resourceVersion, kubeletConfigKey } = source;
  return `${name}@${resourceVersion}${kubeletConfigKey === 'kubelet' ? '' : `:${kubeletConfigKey}`}`;
}

function statusText(config: unknown): string {
  const { assigned, active, lastKnownGood, error } = config as Record<string, { configMap: Source } | undefined> & { error?: string };
  const [a, b, c] = [assigned, active, lastKnownGood].map((member) => shortSource(member?.configMap ?? null));
  return `assigned=${a} active=${b} last-known-good=${c}${error === undefined ? '' : ` error=${error}`}`;
}

/** When the trial that an annotation tells of ends, and what it says in the place of a status. */
function trialText(annotation: string): string {
  const { trial, config } = JSON.parse(annotation) as { trial: { endsAt: string } | null; config?: unknown };
  return `${trial?.endsAt ?? 'none'}${config === undefined ? '' : ` ${statusText(config)}`}`;
}

type Process = { alive: boolean; stop: AbortController; ended: Promise<number> };

/**
 * A node with the whole agent on it: real boot, sync, trial, store and status, on a disk and an API server in memory and on fake
 * time. systemd is played: it starts the agent again when it leaves with 0, and hands over to the kubelet when the file has changed.
 */
export class SimulatedNode {
  readonly clock = new FakeClock();
  readonly api = new FakeApi();
  readonly name = 'node-a';
  readonly kubelet: SimulatedKubelet;
  readonly status = simulatedStatus(this.api, this.clock, this.name);
  fs = new CrashDisk();
  /** What happened since someone last asked, in order. */
  readonly told: { at: number; line: string }[] = [];
  tellLog = false;
  /** `valid`, `unreadable`, or what is wrong with those of the kubeconfig. */
  credentials = 'valid';
  starts = 0;
  #toldStatus = '';
  #options: AgentOptions;
  #process: Process | undefined;
  #locks: Locks = memoryLocks();
  readonly #watchers = new Set<{ paths: readonly string[]; onChange: (path: string) => void }>();
  readonly faults = new DiskFaults();
  #boots = 1;
  #lastEnd = 0;
  #hurry = 0;
  #journalled = 0;

  constructor(over: Partial<AgentOptions> = {}) {
    this.#options = { ...agentDefaults, nodeName: this.name, kubeconfig: '/etc/dkc/kubeconfig', kubeletVersion: '1.30', policy: 'none', metricsBindAddress: '', ...over }; // prettier-ignore
    this.fs.plant(LOCAL, configYaml({ maxPods: 110 }));
    this.fs.plant(BOOT_ID, 'boot-1\n');
    this.kubelet = new SimulatedKubelet({
      clock: this.clock,
      readEffective: () => this.#whatKubeletReads(),
      writeStarted: async (bytes) => this.#outside(STARTED, bytes),
      appendExit: async (line) => this.#outside(EXITS, Buffer.concat([(await this.read(EXITS)) ?? new Uint8Array(), Buffer.from(line)])),
      tell: (line) => this.tell(line),
      onStart: (kind) => {
        if (this.status.reports) void this.clock.sleep(1000).then(() => this.status.report(kind));
      },
    });
    this.register();
  }

  /** A Node as the kubelet creates it; one that is there is deleted before. */
  register(): void {
    this.api.remove(nodes, { name: this.name });
    this.api.put(nodes, { metadata: { name: this.name }, spec: {}, status: { nodeInfo: { kubeletVersion: 'v1.30.0' } } });
  }

  async tellCarrier(): Promise<void> {
    const bytes = (await this.read(volatileActive(EXITS))) ?? (await this.read(layout(ROOT).active));
    const read = parseActiveRecord(new TextDecoder().decode(bytes));
    this.tell(read.ok ? `assignment by ${read.record.carrier ?? 'nothing'}: ${read.record.why}` : `active.json: ${read.problem}`);
    for (const { about, text } of (read.ok && read.record.notices) || []) this.tell(`notice ${about}: ${text}`);
  }

  set(over: Partial<AgentOptions>): void {
    this.#options = { ...this.#options, ...over };
  }

  goOffline(): void {
    const { kubeconfig: _gone, ...rest } = this.#options;
    this.#options = rest;
  }

  tell(line: string): void {
    this.told.push({ at: this.clock.monotonic(), line });
  }

  /** What lies there, also on a disk that fails. */
  async read(path: string): Promise<Uint8Array | undefined> {
    const disk = (this.fs.fault ? this.fs.afterKill() : this.fs).disk();
    return disk.read(path).catch(() => undefined);
  }

  async effective(): Promise<string> {
    return new TextDecoder().decode(await this.read(this.#options.effectiveConfig));
  }

  /** Leaves a checkpoint as upstream's kubelet may have: without a manifest, and with another text. */
  async tear({ uid = '', resourceVersion = '' }: { uid?: string; resourceVersion?: string } = {}, text: string): Promise<void> {
    const dir = layout(ROOT).checkpoint({ uid, resourceVersion });
    await this.fs.disk().remove(layout(ROOT).manifest({ uid, resourceVersion }));
    await this.fs.disk().replace(join(dir, 'kubelet'), new TextEncoder().encode(text));
  }

  store(): FsStore {
    return new FsStore({ disk: this.#watched(this.fs.disk(), () => true), locks: this.#locks, root: ROOT, clock: this.clock });
  }

  /** Somebody writes the field policy, which the agent reads from now on; `none`: it asks nobody. */
  async writePolicy(text: string): Promise<void> {
    if (this.#options.policy === 'none') this.set({ policy: POLICY });
    await this.#outside(POLICY, Buffer.from(text));
  }

  /** systemd starts the agent; whenever it leaves with 0 it starts it again. */
  async start(): Promise<void> {
    if (this.#process) return;
    this.starts += 1;
    const stop = new AbortController();
    const process: Process = { alive: true, stop, ended: Promise.resolve(0) };
    this.#locks = memoryLocks();
    this.#process = process;
    process.ended = runAgent(this.#options, this.#world(process)).then((code) => this.#ended(process, code));
    await atRest();
  }

  async stop(): Promise<void> {
    const process = this.#process;
    if (!process) return;
    this.#process = undefined;
    process.stop.abort();
    if (this.faults.slowMs === 0) return void (await process.ended);
    // systemd waits no longer.
    await this.clock.advance(10_000);
    process.alive = false;
    this.fs = this.fs.afterKill();
  }

  /** SIGKILL: nothing that it does from now on reaches disk or network. */
  async kill(): Promise<void> {
    // What its dead loops still do is seen by nobody; a disk that failed works again.
    this.fs = this.fs.afterKill();
    const process = this.#process;
    if (!process) return;
    process.alive = false;
    this.#process = undefined;
    process.stop.abort();
    this.#watchers.clear();
    await atRest();
  }

  /** A shutdown, which stops the kubelet and then the agent, and a boot. */
  async reboot(): Promise<void> {
    this.kubelet.stop();
    await this.stop();
    await this.#bootAgain();
  }

  async crash(): Promise<void> {
    await this.kill();
    this.kubelet.stop();
    await this.#bootAgain();
  }

  async #bootAgain(): Promise<void> {
    await this.fs.disk().remove('/run/dkc');
    this.fs.plant(BOOT_ID, `boot-${(this.#boots += 1)}\n`);
    await this.start();
  }

  /** @param words - REF of --to, and --force */
  async rollback(...words: string[]): Promise<string> {
    const store = this.store();
    return store.locked(async () => {
      const at = new Date(this.clock.now()).toISOString();
      const to = words.find((word) => word !== '--force');
      const asked = { ...(to === undefined ? {} : { to }), force: words.includes('--force'), at };
      const kubelet = { version: parseKubeletVersion(this.#options.kubeletVersion ?? ''), args: [] };
      const boot = { options: this.#options, store, disk: this.fs.disk(), clock: this.clock, log: silentLog, kubelet };
      const plan = await decideRollback(await this.facts(store), asked, boot);
      if (plan.at === 'planned') await executeRollback(store, plan.steps);
      return plan.at === 'planned' ? plan.notes.join('; ') : `refused: ${plan.why}`;
    });
  }

  /** @param ref - absent: the assigned */
  async retry(ref?: string): Promise<void> {
    const store = this.store();
    await store.locked(async () => {
      const asked = { at: new Date(this.clock.now()).toISOString(), ...(ref === undefined ? {} : { ref }) };
      const plan = planRetry(await this.facts(store), asked);
      if (plan.at === 'planned') await executeRetry(store, plan.cleared, plan.journal);
    });
  }

  facts(store: FsStore = this.store()) {
    const { effectiveConfig, localConfig } = this.#options;
    return observeNode({ store, disk: this.fs.disk(), dynamicConfigDir: ROOT, effectiveConfig, localConfig });
  }

  /** A line of the journal that the agent or an admin added since the last look. */
  async tellJournal(): Promise<void> {
    const lines = parseJournal((await this.read(layout(ROOT).journal)) ?? new Uint8Array());
    for (const { event, source, detail } of lines.slice(this.#journalled)) this.tell(`journal ${event} ${shortSource(source)}: ${detail}`);
    this.#journalled = lines.length;
  }

  async end(): Promise<{ sleepers: number; watches: number }> {
    await this.stop();
    this.kubelet.stop();
    await this.clock.advance(0);
    return { sleepers: this.clock.sleepers, watches: this.api.watches };
  }

  /** A NodeConfig says more than the four facts: its patch is told where these changed. */
  #tellStatus(config: unknown, isNode: boolean, annotation: string | undefined): void {
    const text = `status ${statusText(config)}`;
    if (isNode) return this.tell(annotation === undefined ? text : `${text} trial=${trialText(annotation)}`);
    if (text !== this.#toldStatus) this.tell(`NodeConfig ${text}`);
    this.#toldStatus = text;
  }

  async #ended(process: Process, code: number): Promise<number> {
    if (this.#process !== process) return code;
    this.#process = undefined;
    this.#watchers.clear();
    this.tell(`agent exits ${code}`);
    // An agent that chases itself fails a test instead of hanging it.
    this.#hurry = this.clock.monotonic() === this.#lastEnd ? this.#hurry + 1 : 0;
    this.#lastEnd = this.clock.monotonic();
    if (this.#hurry >= 20) this.tell('systemd gives up: the agent leaves again and again');
    else if (code === 0) await this.start();
    return code;
  }

  /** The file of `--config`: the drop-in reads `kubelet.env` last. */
  async #whatKubeletReads(): Promise<Uint8Array | undefined> {
    const env = new TextDecoder().decode(await this.read('/run/dkc/kubelet.env'));
    const path = /^KUBELET_CONFIG_ARGS=--config=(.*)$/m.exec(env)?.[1];
    return this.read(path ?? this.#options.effectiveConfig);
  }

  /** ExecStartPost= of the agent, and After= of the kubelet. */
  async #handOver(): Promise<void> {
    const { kubelet } = this;
    const now = await this.#whatKubeletReads();
    if (!kubelet.started) await kubelet.start();
    else if (now && sha256(now) !== sha256(kubelet.started)) await kubelet.tryRestart();
  }

  #world(process: Process): AgentWorld {
    const alive = (): boolean => process.alive;
    return {
      disk: this.#watched(this.fs.disk(), alive),
      locks: this.#locks,
      clock: this.clock,
      random: seededRandom(this.starts),
      log: this.#log(alive),
      exec: async (_program, args) => {
        const state = this.kubelet.active ? 'active\n' : this.kubelet.started ? 'activating\n' : 'inactive\n';
        return { code: 0, stdout: args.includes('ActiveState') ? state : args.includes('MainPID') ? '7\n' : '', stderr: '' };
      },
      watchFiles: async (paths, onChange, signal) => {
        const watcher = { paths, onChange };
        this.#watchers.add(watcher);
        if (!signal.aborted) await once(signal, 'abort');
        this.#watchers.delete(watcher);
      },
      probe: async () => ({ healthy: this.kubelet.healthy, detail: this.kubelet.healthy ? 'ok' : 'no answer' }),
      notify: {
        ready: async () => void (process.alive && (await this.#handOver())),
        status: async () => {},
        stopping: async () => {},
        keepAlive: async () => {},
      },
      connect: async () =>
        this.api.client({
          alive,
          onStatus: (config, resource, annotation) => this.#tellStatus(config, resource === nodes, annotation),
          onAnnotation: (text) => this.tell(`annotation dkc.dev/agent: trial=${trialText(text)}`),
          onEvent: ({ type, reason, message }) => this.tell(`event ${String(type)} ${String(reason)}: ${String(message)}`),
        }),
      credentialProblem: async () => {
        if (this.credentials === 'unreadable') throw new Error('EACCES');
        return this.credentials === 'valid' ? undefined : this.credentials;
      },
      readyWithinMs: READY_AT_MS,
      version: '0.0.0',
      stop: process.stop.signal,
    };
  }

  #log(alive: () => boolean): Log {
    const line = (level: LogLevel) => (text: string, fields?: Readonly<Record<string, unknown>>) => {
      if (!alive()) return;
      if (!this.tellLog || !['warn', 'error'].includes(level)) return;
      if (/^(systemd does not report|the kubelet does not|(ConfigMap|Node) cannot be watched)/.test(text)) return;
      const { field, rule, problem, detail, error } = fields ?? {};
      const rest = [field, rule, problem, detail, error].filter((one) => typeof one === 'string' && one !== '');
      this.tell(`log ${level}: ${text}${rest.length > 0 ? ` (${rest.join(', ')})` : ''}`);
    };
    const log: Log = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), with: () => log };
    return log;
  }

  /** Tells the watchers of files, as inotify does, and the story of what is written. */
  #watched(disk: Disk, alive: () => boolean): Disk {
    const changed = async (path: string): Promise<void> => (alive() ? this.#changed(path) : undefined);
    const saved = (ref: string): void => (alive() ? this.tell(`save ${ref}`) : undefined);
    return {
      ...this.faults.over(disk, layout(ROOT), this.clock, changed, saved),
      stat: async (path) => {
        const stat = await disk.stat(path);
        return stat && path === STARTED ? { ...stat, modifiedMs: this.kubelet.startedAt } : stat;
      },
    };
  }

  async #changed(path: string): Promise<void> {
    const paths = layout(ROOT);
    if (path === paths.journal) await this.tellJournal();
    else if (path === this.#options.effectiveConfig) this.tell('effective file written');
    else if (path === '/run/dkc/kubelet.env')
      this.tell(`kubelet gets another file, ${(await this.read(path)) ? 'in memory' : 'no longer'}`);
    this.#notify(path);
  }

  /** Written by the kubelet's drop-in, not by the agent. */
  async #outside(path: string, bytes: Uint8Array): Promise<void> {
    this.fs.plant(path, bytes);
    this.#notify(path);
  }

  #notify(path: string): void {
    for (const watcher of this.#watchers) if (watcher.paths.includes(path)) setImmediate(() => watcher.onChange(path));
  }
}
