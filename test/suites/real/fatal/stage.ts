import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { availableParallelism, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { ApiHttp } from '../../../support/api-http.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Fate, type FatalRow, filled } from '../../../support/fatal-rows.ts';
import type { ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { startFakeDocker } from '../../../support/real-parts/fake-docker.ts';
import { type FakeRuntimeOptions, protoOfParts, protoOfRelease, startFakeRuntime } from '../../../support/real-parts/fake-runtime.ts';
import { baseKubeletConfig } from '../../../support/real-parts/real-kubelet.ts';
import type { Release } from '../../../support/real-parts/release.ts';
import { freePorts } from '../../../support/real-parts/free-ports.ts';
import { ask, ReleaseKubelet, releaseKubeletConfig } from '../../../support/real-parts/release-kubelet.ts';
import { ApiNode } from './api-node.ts';

/** A release's kubelet, and how to speak its runtime's interface. */
export interface Subject {
  minor: number;
  kubelet: string;
  runtime: Pick<FakeRuntimeOptions, 'api' | 'proto'>;
}

/** @throws {RealPartsUnavailable} */
export async function subjectOf(release: Release): Promise<Subject> {
  const { minor } = release;
  if (minor < 26) {
    const { kubelet } = await release.programs(['kubelet']);
    return { minor, kubelet, runtime: { api: 'v1alpha2', proto: protoOfParts(join(dirname(kubelet), 'protos')) } };
  }
  const { kubelet, 'cri-v1.proto': proto } = await release.programs(['kubelet', 'cri-v1.proto']);
  return { minor, kubelet, runtime: { api: 'v1', proto: protoOfRelease(proto) } };
}

const PORTS = ['port', 'healthzPort', 'readOnlyPort', 'other'] as const;
/** How long a kubelet is watched that is expected to live, and never to be healthy, registered or Ready. */
const PATIENCE_MS = 12_000;
/** What dies late does so within a second or two. */
const LATE_MS = 4_000;
/** As long as anything takes on a busy machine that will happen. */
const SLOW_MS = 60_000;

/** Not below /tmp, of which an agent under systemd sees another one than the kubelet: what is missing there proves nothing to it. */
const DIR = '/var/lib/dkc-fatal-';
/** What the state files of the static policies hold before they are filled in. */
const UNFILLED = /"policyName":"static".*"defaultCpuSet":""|"policyName":"Static".*"machineState":\{\}/;

export interface Seen {
  fate: Fate;
  /** The line that says why. */
  words: string;
  wasHealthy: boolean;
}

/** Whether the row is about a Node or pods, so that its kubelet needs an API server. */
export function needsApi({ kubelet, machine }: FatalRow): boolean {
  const fates: (Fate | undefined)[] = ['lives', 'not registered', 'not Ready', 'pods fail'];
  if (machine?.standalone === true) return false;
  return machine?.registered === true || (machine?.pods ?? []).length > 0 || fates.includes(kubelet);
}

/** One row, on a machine arranged as it says, with a kubelet of its own. */
export class Stage {
  readonly dir: string;
  readonly row: FatalRow;
  readonly name: string;
  readonly #subject: Subject;
  readonly #plane: ControlPlane | undefined;
  readonly #ports: Record<string, number>;
  readonly #close: (() => Promise<unknown>)[] = [];
  #kubelets: ReleaseKubelet[] = [];

  private constructor(row: FatalRow, name: string, subject: Subject, plane: ControlPlane | undefined, ports: readonly number[]) {
    this.row = row;
    this.name = name;
    this.#subject = subject;
    this.#plane = plane;
    this.#ports = Object.fromEntries(PORTS.map((field, n) => [field, ports[n] ?? 0]));
    this.dir = mkdtempSync(DIR);
  }

  /** @param plane - absent for a standalone kubelet */
  static async arrange(row: FatalRow, name: string, subject: Subject, plane?: ControlPlane): Promise<Stage> {
    const stage = new Stage(row, name, subject, plane, await freePorts(PORTS.length));
    const { files = {}, state = {}, taken = [], runtime = {} } = row.machine ?? {};
    mkdirSync(join(stage.dir, 'root'), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(stage.dir, file), await pemOf(text));
    for (const [file, text] of Object.entries(state)) {
      mkdirSync(dirname(join(stage.dir, 'root', file)), { recursive: true });
      writeFileSync(join(stage.dir, 'root', file), text);
    }
    for (const field of taken) stage.#close.push(await listenOn(stage.#ports[field] ?? 0));
    const fake = await startFakeRuntime({ socket: stage.socket, ...subject.runtime, ...runtime });
    stage.#close.push(() => fake.close());
    if (subject.minor < 26) {
      const docker = await startFakeDocker(join(stage.dir, 'docker.sock'));
      stage.#close.push(() => docker.close());
    }
    return stage;
  }

  /** Its Node and what is on it, at the API server. */
  get node(): ApiNode {
    if (!this.#plane) throw new Error('a standalone kubelet has no API server');
    const { url, ca, adminToken } = this.#plane;
    return new ApiNode(new ApiHttp({ url, ca, token: adminToken }), this.name);
  }

  get socket(): string {
    return join(this.dir, 'cri.sock');
  }

  get healthz(): string {
    return `http://127.0.0.1:${this.#ports['healthzPort']}/healthz`;
  }

  get version(): string {
    return `v1.${this.#subject.minor}.0`;
  }

  /** These fields on this machine. */
  fields(text: string): object {
    const replaced = filled(text, {
      dir: this.dir,
      port: (field) => this.#ports[field] ?? 0,
      cpus: availableParallelism(),
      memoryBytes: BigInt(totalmem()),
    });
    return (parse(replaced) ?? {}) as object;
  }

  /** The whole configuration with these fields over the base. */
  config(fields: string): Record<string, unknown> {
    const { port, healthzPort } = this.#ports;
    const cgroups = this.row.machine?.cgroups === true ? { cgroupsPerQOS: true, enforceNodeAllocatable: ['pods'] } : {};
    const over = { port, healthzPort, ...cgroups, ...this.fields(fields) };
    return this.#subject.minor < 26
      ? baseKubeletConfig(over as { port: number; healthzPort: number })
      : releaseKubeletConfig(this.socket, over);
  }

  /** The whole command line of its kubelet. */
  get commandLine(): string[] {
    return [`--root-dir=${join(this.dir, 'root')}`, ...this.args, ...(this.#plane ? [`--kubeconfig=${join(this.dir, 'kubeconfig')}`] : [])];
  }

  /** Its flags besides those that every kubelet here has. */
  get args(): string[] {
    if (this.#subject.minor >= 26) return [];
    const [cri, docker] = [`unix://${this.socket}`, `unix://${join(this.dir, 'docker.sock')}`];
    return ['--container-runtime=remote', `--container-runtime-endpoint=${cri}`, `--docker=${docker}`];
  }

  /** Starts a kubelet with these fields. */
  async start(fields: string): Promise<ReleaseKubelet> {
    return this.startOn(stringify(this.config(fields)));
  }

  /** Starts a kubelet on this whole configuration. */
  async startOn(config: string): Promise<ReleaseKubelet> {
    const { cgroups = false, sysctlsReadOnly = false } = this.row.machine ?? {};
    const { dir, name, args } = this;
    const plan = { program: this.#subject.kubelet, dir, name, config, cgroups, sysctlsReadOnly, args };
    const kubelet = await ReleaseKubelet.start({ ...plan, ...(this.#plane ? { kubeconfig: this.#kubeconfig() } : {}) });
    this.#kubelets.push(kubelet);
    return kubelet;
  }

  adminKubeconfig(): string {
    return this.#plane?.kubeconfig() ?? '';
  }

  #kubeconfig(): string {
    const path = join(this.dir, 'kubeconfig');
    if (this.#plane) writeFileSync(path, this.#plane.kubeconfig(this.#plane.nodeToken(this.name)));
    return path;
  }

  /** What the row says was there before: a kubelet whose pods run. It is stopped again. */
  async before(): Promise<void> {
    const { before, pods = [] } = this.row.machine ?? {};
    if (before === undefined && pods.length === 0) return;
    const kubelet = await this.start(before ?? '');
    await this.#until('the kubelet before to be healthy', kubelet, () => this.isHealthy());
    // Its managers write these when they have started.
    for (const file of ['cpu_manager_state', 'memory_manager_state'])
      await this.#until(`its ${file}`, kubelet, () => Promise.resolve(isFilled(join(this.dir, 'root', file))));
    if (this.#plane) {
      await this.#until('its Node to be Ready', kubelet, async () => (await this.node.ready())?.status === 'True');
      for (const [n, pod] of pods.entries()) await this.node.createPod(`before-${n}`, pod);
      for (const n of pods.keys())
        await this.#until('its pods to run', kubelet, async () => (await this.node.phase(`before-${n}`)) === 'Running');
    }
    await kubelet.stop();
  }

  /** Starts the kubelet of the row, and watches it until its fate is clear. */
  async play(): Promise<Seen> {
    const from = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
    const kubelet = await this.start(this.row.config ?? '');
    let wasHealthy = false;
    const ended = (): Seen | undefined => {
      if (!kubelet.end) return undefined;
      return { fate: kubelet.hasStarted ? 'dies late' : 'dies', words: kubelet.lastWords(), wasHealthy };
    };
    const within = async (ms: number, look: () => Promise<boolean>): Promise<boolean> => {
      const until = performance.now() + ms;
      while (!kubelet.end && performance.now() < until) {
        if (await look()) return true;
        await sleep(50);
      }
      return false;
    };
    // Only what is expected to go wrong is waited for, so that a busy machine is slow, and no row is another's.
    const expected = this.row.kubelet ?? 'lives';
    const isUp = await within(expected === 'never healthy' ? PATIENCE_MS : SLOW_MS, () => this.isHealthy());
    wasHealthy = isUp;
    if (expected.startsWith('dies')) await within(SLOW_MS, () => Promise.resolve(false));
    if (kubelet.end) return ended() as Seen;
    if (!this.#plane) {
      await within(LATE_MS, () => Promise.resolve(false));
      return ended() ?? { fate: isUp ? await this.#served('lives') : 'never healthy', words: '', wasHealthy };
    }
    const isReady = await within(expected.startsWith('not ') ? PATIENCE_MS : SLOW_MS, async () => {
      const ready = await this.node.ready();
      return ready?.status === 'True' && ready.heartbeat >= from;
    });
    if (kubelet.end) return ended() as Seen;
    if (!isUp) return { fate: 'never healthy', words: '', wasHealthy };
    const ready = await this.node.ready();
    if (!ready) return { fate: 'not registered', words: '', wasHealthy };
    if (!isReady) return { fate: 'not Ready', words: ready.message, wasHealthy };
    const pods = await this.#pods(within);
    return ended() ?? { fate: pods === '' ? await this.#served('lives') : 'pods fail', words: pods, wasHealthy };
  }

  /** @returns what is wrong with pods that ran before, and with a new one; '' when nothing is */
  async #pods(within: (ms: number, look: () => Promise<boolean>) => Promise<boolean>): Promise<string> {
    const { pods = [] } = this.row.machine ?? {};
    const failed = async (name: string): Promise<boolean> => !['Running', 'Pending'].includes((await this.node.phase(name)) ?? '');
    const patience = this.row.kubelet === 'pods fail' ? 1.5 * SLOW_MS : LATE_MS;
    let bad = '';
    if (pods.length > 0) {
      await within(patience, async () => {
        for (const n of pods.keys()) if (await failed(`before-${n}`)) bad = `before-${n}: ${await this.node.reason(`before-${n}`)}`;
        return bad !== '';
      });
      return bad;
    }
    await this.node.createPod('new', {});
    const runs = await within(
      this.row.kubelet === 'pods fail' ? PATIENCE_MS : SLOW_MS,
      async () => (await this.node.phase('new')) === 'Running',
    );
    if (!runs) return `new: ${await this.node.reason('new')}`;
    // An eviction takes one look of the kubelet's manager, every 10 s.
    if (this.row.kubelet === 'pods fail' && (await within(patience, () => failed('new')))) return `new: ${await this.node.reason('new')}`;
    return '';
  }

  async #served(fate: Fate): Promise<Fate> {
    if (this.row.kubelet !== 'server fails') return fate;
    const answer = await ask(`https://127.0.0.1:${this.#ports['port']}/configz`);
    return answer?.status === 200 ? fate : 'server fails';
  }

  async isHealthy(): Promise<boolean> {
    return (await ask(this.healthz))?.status === 200;
  }

  async #until(what: string, kubelet: ReleaseKubelet, look: () => Promise<boolean>): Promise<void> {
    await eventually(
      what,
      async () => {
        if (kubelet.end) throw new Error(`${this.row.why}: the kubelet ended: ${kubelet.lastWords()}`);
        return look();
      },
      60_000,
    );
  }

  /** Ends everything; the folder goes. */
  async close(): Promise<void> {
    for (const kubelet of this.#kubelets) await kubelet.stop();
    for (const kubelet of this.#kubelets.slice(0, 1)) await kubelet.removeCgroups();
    for (const close of this.#close) await close();
    rmSync(this.dir, { recursive: true, force: true });
  }
}

const isFilled = (file: string): boolean => existsSync(file) && !UNFILLED.test(readFileSync(file, 'utf8'));

async function listenOn(port: number): Promise<() => Promise<unknown>> {
  const server: Server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  return () => new Promise((resolve) => server.close(resolve));
}

let pems: Promise<Record<string, string>> | undefined;

/** A certificate with its key, and the key of another one; other texts as they are. */
async function pemOf(text: string): Promise<string> {
  if (!['CERT', 'KEY', 'OTHERKEY'].includes(text)) return text;
  return (await (pems ??= makePems()))[text] ?? '';
}

async function makePems(): Promise<Record<string, string>> {
  const authority = await makeAuthority();
  const KEY = readFileSync(join(authority.directory, 'ca.key'), 'utf8');
  const made = { CERT: authority.ca, KEY, OTHERKEY: (await authority.server()).key };
  await authority.remove();
  return made;
}
