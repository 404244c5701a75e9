import { appendFile, copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { STARTED_FILE } from '../../agent/host/unit.ts';
import { sha256 } from '../../agent/checkpoint/payload.ts';
import { Eye } from './eye.ts';
import { Service, type Ended } from './service.ts';
import type { KubeletUp } from './kubelet.ts';
import type { Clock, Millis } from '../../base/clock.ts';

/** Paths of the demo's node. */
export interface NodeFiles {
  dynamicConfigDir: string;
  effective: string;
  localConfig: string;
  run: string;
  exits: string;
  agentConfig: string;
  policy: string;
  agentLog: string;
  kubeletLog: string;
  kubeconfig: string;
}

export function nodeFiles(root: string): NodeFiles {
  const at = (...names: string[]): string => join(root, ...names);
  return {
    dynamicConfigDir: at('dkc'),
    effective: at('dkc', 'kubelet.yaml'),
    localConfig: at('local', 'config.yaml'),
    run: at('run'),
    exits: at('run', 'kubelet-exits'),
    agentConfig: at('agent.yaml'),
    policy: at('policy.yaml'),
    agentLog: at('agent.log'),
    kubeletLog: at('kubelet.log'),
    kubeconfig: at('kubeconfig'),
  };
}

export interface SupervisorSpec {
  files: NodeFiles;
  /** Command that starts this dkc: Node.js and the main file. */
  dkc: readonly [string, string];
  agentFlags: readonly string[];
  /** URL of the kubelet's /healthz. */
  healthz: string;
  /** Called when a kubelet is up. */
  onUp: (up: KubeletUp) => void;
  /** Called when a kubelet has ended. */
  onEnd: (ended: Ended) => void;
}

/** Agent and kubelet of one node, coupled as in systemd/: a kubelet is restarted only when the agent becomes ready and the file differs. */
export class Supervisor {
  readonly agent: Service;
  readonly kubelet: Service;
  readonly #files: NodeFiles;
  /** Number of agent starts that became ready. */
  readonly #ready: Eye<number>;

  constructor({ files, dkc, agentFlags, healthz, onUp, onEnd }: SupervisorSpec, clock: Clock) {
    this.#files = files;
    this.#ready = new Eye<number>(clock);
    const [node, main] = dkc;
    this.agent = new Service(
      { argv: [node, main, 'agent', 'run', ...agentFlags], restartMs: 300, logFile: files.agentLog, onReady: () => this.#sync() },
      clock,
    );
    this.kubelet = new Service(
      {
        argv: [node, main, '__kubelet', `--config=${files.effective}`, `--healthz=${healthz}`],
        restartMs: 300,
        logFile: files.kubeletLog,
        before: () => copyFile(files.effective, this.#started),
        onLine: (line) => onUp(JSON.parse(line) as KubeletUp),
        after: async (ended) => {
          await appendFile(files.exits, exitLine(ended, clock.now(), await hashOf(this.#started)), { mode: 0o600 });
          onEnd(ended);
        },
      },
      clock,
    );
  }

  get #started(): string {
    return join(this.#files.run, STARTED_FILE);
  }

  /** Waits until an agent is ready that was started after the first `starts` ones. */
  async whenAgentReady(starts: number, timeoutMs: Millis, signal: AbortSignal): Promise<void> {
    await this.#ready.until('the agent ready', (ready) => ready > starts, timeoutMs, signal);
  }

  /** Like systemd/kubelet-sync, without systemd: restarts, once, a kubelet that was started with another file than the effective one. */
  async #sync(): Promise<void> {
    this.#ready.see(this.agent.starts);
    if (!this.kubelet.isStarted) return this.kubelet.start();
    if ((await hashOf(this.#files.effective)) !== (await hashOf(this.#started))) this.kubelet.restart();
  }

  async stop(): Promise<void> {
    await Promise.all([this.agent.stop(), this.kubelet.stop()]);
  }
}

async function hashOf(path: string): Promise<string> {
  return readFile(path).then(sha256, () => '-');
}

/** One line of the exits file, as systemd/kubelet-stopped writes it. */
export function exitLine({ result, code, status }: Ended, now: number, hash: string): string {
  return `${new Date(now).toISOString()} ${result} ${code} ${status} ${hash}\n`;
}
