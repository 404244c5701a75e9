import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Clock, Millis } from '../../base/clock.ts';

/** How a process ended, in the terms that systemd passes to ExecStopPost=. */
export interface Ended {
  /** `success` if it exited with 0 or was stopped on request. */
  result: 'success' | 'exit-code' | 'signal';
  code: 'exited' | 'killed';
  /** `1`, `KILL`. */
  status: string;
}

export interface ServiceSpec {
  /** Program and arguments. */
  argv: readonly [string, ...string[]];
  env?: Readonly<Record<string, string>>;
  /** Delay before a restart after a crash. */
  restartMs: Millis;
  /** File for the output of all starts. */
  logFile: string;
  /** Called before each start, like ExecStartPre=. */
  before?: () => Promise<void>;
  /** Called for each line of standard output. */
  onLine?: (line: string) => void;
  /** Called after READY=1, like ExecStartPost= of a Type=notify service. */
  onReady?: () => Promise<void>;
  /** Called after each end, like ExecStopPost=. */
  after?: (ended: Ended) => Promise<void>;
}

/** Time between SIGTERM and SIGKILL. */
const STOP_MS: Millis = 5_000;

/** Keeps one process running, like systemd a unit with Restart=always: all that the demo needs of systemd. */
export class Service {
  readonly #spec: ServiceSpec;
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #child: ChildProcess | undefined;
  #isRequested = false;
  #running: Promise<void> | undefined;
  /** Number of starts. */
  starts = 0;

  constructor(spec: ServiceSpec, clock: Clock) {
    this.#spec = spec;
    this.#clock = clock;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isStarted(): boolean {
    return this.#running !== undefined;
  }

  start(): void {
    this.#running ??= this.#keepUp();
  }

  /** Terminates the process; the service starts it again at once. */
  restart(): void {
    // Between two starts there is no process, and the next start reads the new file anyway.
    if (this.#child?.kill('SIGTERM')) this.#isRequested = true;
  }

  /** Kills the process, to simulate a crash. */
  crash(): void {
    this.#child?.kill('SIGKILL');
  }

  async stop(): Promise<void> {
    this.#over.abort();
    this.#isRequested = true;
    const child = this.#child;
    child?.kill('SIGTERM');
    const force = setTimeout(() => child?.kill('SIGKILL'), STOP_MS);
    await this.#running;
    clearTimeout(force);
  }

  async #keepUp(): Promise<void> {
    const { signal } = this.#over;
    while (!signal.aborted) {
      await this.#spec.before?.();
      const ended = await this.#once();
      await this.#spec.after?.(ended);
      const wait = this.#isRequested ? 0 : this.#spec.restartMs;
      this.#isRequested = false;
      await this.#clock.sleep(wait, signal).catch(() => undefined);
    }
  }

  async #once(): Promise<Ended> {
    const { argv, env = {}, logFile, onLine, onReady } = this.#spec;
    const log = openSync(logFile, 'a', 0o600);
    // Like systemd's OpenFile=: passes an open socket, and an environment that names it. LISTEN_PID must be the PID of the process itself.
    const script = 'LISTEN_PID=$$ exec "$@"';
    const passed = { LISTEN_FDS: '1', LISTEN_FDNAMES: 'notify' };
    const child = spawn('/bin/sh', ['-c', script, 'sh', ...argv], {
      env: { ...process.env, NO_COLOR: '1', ...passed, ...env },
      stdio: ['ignore', onLine ? 'pipe' : log, log, 'pipe'],
    });
    closeSync(log);
    this.#child = child;
    this.starts++;
    if (onLine && child.stdout) createInterface({ input: child.stdout }).on('line', onLine);
    child.stdio[3]?.on('data', (text: Buffer) => {
      if (text.toString('utf8').includes('READY=1')) void onReady?.();
    });
    // 'close', not 'exit': only then has the last line been read.
    const [code, killed] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    this.#child = undefined;
    if (killed !== null) return { result: this.#isRequested ? 'success' : 'signal', code: 'killed', status: killed.replace(/^SIG/, '') };
    return { result: this.#isRequested || code === 0 ? 'success' : 'exit-code', code: 'exited', status: String(code ?? 0) };
  }
}
