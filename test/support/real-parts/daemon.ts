import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { appendFileSync, closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

export interface DaemonPlan {
  name: string;
  program: string;
  args: readonly string[];
  /** Where its output goes, appended. */
  log: string;
  home: string;
  /** Answers 200 as soon as it is of use. */
  ready: { url: string; token?: string };
  /** PEM that its certificate is checked with. */
  ca: string;
  /** Restarts it when it exits after it was ready, as a kubelet does with a static pod; at most RESTARTS times. @default false */
  restarts?: boolean;
}

const READY_WITHIN_MS = 120_000;
const TAIL_LINES = 40;
const RESTARTS = 5;

/**
 * A long-running program in a process group of its own. It ends with us, however we end: the kernel kills it when the thread that
 * started it is gone, so start it from the main thread.
 */
export class Daemon {
  readonly plan: DaemonPlan;
  #child: ChildProcess | undefined;
  #ended: Promise<string> = Promise.resolve('never started');
  #over = '';
  #mayEnd = true;
  #restarts = 0;

  constructor(plan: DaemonPlan) {
    this.plan = plan;
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.#over === '' ? this.#child?.pid : undefined;
  }

  /** Starts it and waits until it is ready. @throws with the end of its log */
  async start(): Promise<void> {
    const { name } = this.plan;
    this.#spawn();
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await this.#isReady())) {
      if (this.#over !== '') throw new Error(`${name} ${this.#over}\n${await this.tail()}`);
      if (performance.now() > deadline) {
        await this.kill();
        throw new Error(`${name} was not ready after ${READY_WITHIN_MS / 1000} s\n${await this.tail()}`);
      }
      await sleep(50);
    }
    this.#mayEnd = this.plan.restarts !== true;
  }

  #spawn(): void {
    const { program, args, log, home } = this.plan;
    const output = openSync(log, 'a');
    this.#over = '';
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], {
      stdio: ['ignore', output, output],
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', HOME: home },
    });
    closeSync(output);
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#over = how;
        resolve(how);
        if (this.#mayEnd || this.#restarts++ === RESTARTS) return;
        appendFileSync(log, `\n--- ${how}, and is restarted\n`);
        this.#spawn();
      };
      child.once('error', (error) => end(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => end(`ended with ${signal ?? code}`));
    });
  }

  /** Asks it to end, and after `graceMs` makes it. */
  async stop(graceMs: number): Promise<void> {
    this.#mayEnd = true;
    this.#signal('SIGTERM');
    const patience = new AbortController();
    await Promise.race([this.#ended, sleep(graceMs, undefined, { signal: patience.signal }).catch(() => {})]);
    patience.abort();
    await this.kill();
  }

  async kill(): Promise<void> {
    this.killNow();
    await this.#ended;
  }

  /** For the end of the process, where nothing can be waited for. */
  killNow(): void {
    this.#mayEnd = true;
    this.#signal('SIGKILL');
  }

  async tail(): Promise<string> {
    const text = await readFile(this.plan.log, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-TAIL_LINES).join('\n');
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.pid === undefined) return;
    try {
      process.kill(-this.pid, signal);
    } catch {} // it ended just now, and its exit is on the way
  }

  async #isReady(): Promise<boolean> {
    const { ready, ca } = this.plan;
    const headers = ready.token === undefined ? {} : { authorization: `Bearer ${ready.token}` };
    const options = { headers, agent: false, signal: AbortSignal.timeout(2_000) };
    return new Promise((resolve) => {
      const request = ready.url.startsWith('https:') ? tlsRequest(ready.url, { ...options, ca }) : plainRequest(ready.url, options);
      request.once('error', () => resolve(false));
      request.once('response', (response) => {
        response.once('error', () => resolve(false)).resume();
        resolve(response.statusCode === 200);
      });
      request.end();
    });
  }
}
