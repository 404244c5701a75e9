import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { eventually } from '../../../support/eventually.ts';
import type { ReleaseKubelet } from '../../../support/real-parts/release-kubelet.ts';
import type { Stage } from './stage.ts';

const project = join(import.meta.dirname, '../../../..');
/** As a unit with RestartSec= would wait. */
const RESTART_MS = 300;
const DEADLINE_MS = 90_000;

interface Undone {
  /** `refused` before any restart; `rolled back` by the trial; `kept`: it was trusted. */
  end: 'refused' | 'rolled back' | 'kept';
  /** The agent's reason for its verdict. */
  reason: string;
  /** From the assignment to that, and to a healthy kubelet, in ms. */
  endMs: number;
  healthyMs: number;
  /** Lives of the kubelet on the configuration. */
  starts: number;
}

interface Condemned {
  reason: string;
  evidence: string[];
}

/** A node as systemd would run it: an agent that is started again when it ends, and a kubelet that is started on the effective file. */
export class AgentNode {
  readonly stage: Stage;
  readonly #stop = new AbortController();
  readonly #loops: Promise<void>[] = [];
  #agent: ChildProcess | undefined;
  #kubelet: { process: ReleaseKubelet; sha256: string } | undefined;
  #starts = new Map<string, number>();

  constructor(stage: Stage) {
    this.stage = stage;
  }

  #path(...names: string[]): string {
    return join(this.stage.dir, ...names);
  }

  /** With the row's `before` as its local config. */
  async start(agentArgs: readonly string[]): Promise<void> {
    const { stage } = this;
    writeFileSync(this.#path('local.yaml'), stringify(stage.config(stage.row.machine?.before ?? '')));
    writeFileSync(this.#path('kubelet-args'), stage.commandLine.join('\n'));
    writeFileSync(this.#path('exits'), '');
    writeFileSync(this.#path('admin.kubeconfig'), stage.adminKubeconfig());
    this.#loops.push(this.#superviseAgent(agentArgs));
    await eventually('the effective file', () => this.#effective() !== undefined, DEADLINE_MS);
    this.#loops.push(this.#superviseKubelet());
    await this.isWell();
  }

  /** A healthy kubelet on the effective file, whose Node is Ready by its own word. */
  async isWell(): Promise<void> {
    const from = new Date(Math.floor(Date.now() / 1000) * 1000).toISOString();
    await eventually(
      `a kubelet that is well: ${this.stage.row.why}`,
      async () => {
        if (this.#kubelet?.sha256 !== sha256(this.#effective() ?? '') || this.#kubelet.process.end) return false;
        const ready = await this.stage.node.ready();
        return (await this.stage.isHealthy()) && ready?.status === 'True' && ready.heartbeat >= from;
      },
      DEADLINE_MS,
      () => `${this.#agentLog().slice(-1500)} ${this.#kubelet?.process.lastWords()}`,
    );
  }

  /** Assigns the row's configuration over the local one, and waits for its end. */
  async assign(): Promise<Undone> {
    const { stage } = this;
    const local = sha256(this.#effective() ?? '');
    const before = this.#kubelet?.process;
    const fields = stage.fields(stage.row.config ?? '');
    const kind = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
    const at = performance.now();
    await stage.node.assign(stringify({ ...kind, ...fields }));
    const end = await eventually(
      `an end of: ${stage.row.why}`,
      async (): Promise<Undone['end'] | undefined> => {
        const { error, trusted } = await stage.node.assignment();
        if (error.startsWith('failed trial')) return 'rolled back';
        if (/^failed to (?:validate|load)/.test(error)) return 'refused';
        return trusted ? 'kept' : undefined;
      },
      DEADLINE_MS,
      () => this.#agentLog().slice(-2000),
    );
    const endMs = Math.round(performance.now() - at);
    await this.isWell();
    const healthyMs = Math.round(performance.now() - at);
    if (end === 'refused' && this.#kubelet?.process !== before)
      throw new Error(`${stage.row.why}: the kubelet was restarted before it was refused`);
    const starts = [...this.#starts].filter(([hash]) => hash !== local).reduce((sum, [, count]) => sum + count, 0);
    return { end, reason: this.#condemned()?.reason ?? '', endMs, healthyMs, starts };
  }

  #condemned(): Condemned | undefined {
    try {
      const list = JSON.parse(readFileSync(this.#path('dkc/store/meta/condemned.json'), 'utf8')) as Condemned[] | { items: Condemned[] };
      return (Array.isArray(list) ? list : list.items).at(-1);
    } catch {
      return undefined;
    }
  }

  #effective(): string | undefined {
    try {
      return readFileSync(this.#path('dkc/kubelet.yaml'), 'utf8');
    } catch {
      return undefined;
    }
  }

  #agentLog(): string {
    return readFileSync(this.#path('agent.log'), 'utf8');
  }

  async #superviseAgent(more: readonly string[]): Promise<void> {
    const { stage } = this;
    const output = openSync(this.#path('agent.log'), 'a');
    const args = [
      `--node-name=${stage.name}`,
      `--kubeconfig=${this.#path('admin.kubeconfig')}`,
      `--dynamic-config-dir=${this.#path('dkc')}`,
      `--local-config=${this.#path('local.yaml')}`,
      '--kubelet-unit=',
      `--kubelet-healthz=${stage.healthz}`,
      `--kubelet-exits=${this.#path('exits')}`,
      `--kubelet-version=${stage.version}`,
      `--kubelet-args=${this.#path('kubelet-args')}`,
      '--merge=overlay',
      '--policy=none',
      '--configmap-namespace=',
      '--metrics-bind-address=',
      '--sync-interval=1s',
      ...more,
    ];
    while (!this.#stop.signal.aborted) {
      const agent = spawn(process.execPath, [join(project, 'cli/main.ts'), 'agent', 'run', ...args], { stdio: ['ignore', output, output] });
      this.#agent = agent;
      await new Promise((resolve) => agent.once('exit', resolve).once('error', resolve));
      await sleep(100);
    }
  }

  /** Starts the kubelet on what is effective, again when that changes, and when it ends: each end is noted as the unit's drop-in does. */
  async #superviseKubelet(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const text = this.#effective() ?? '';
      const hash = sha256(text);
      writeFileSync(this.#path('effective.copy'), text);
      copyFileSync(this.#path('effective.copy'), this.#path('kubelet-started.yaml'));
      this.#starts.set(hash, (this.#starts.get(hash) ?? 0) + 1);
      const kubelet = await this.stage.startOn(text);
      this.#kubelet = { process: kubelet, sha256: hash };
      while (!kubelet.end && !this.#stop.signal.aborted && sha256(this.#effective() ?? '') === hash) await sleep(50);
      if (this.#stop.signal.aborted) return;
      if (!kubelet.end) {
        await kubelet.stop();
        continue;
      }
      const { code } = kubelet.end;
      appendFileSync(this.#path('exits'), `${new Date().toISOString()} exit-code exited ${code ?? 1} ${hash}\n`);
      await sleep(RESTART_MS);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    this.#agent?.kill('SIGKILL');
    await Promise.all(this.#loops);
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
