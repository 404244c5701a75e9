import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Ask, Measured } from './probe.ts';

const root = join(import.meta.dirname, '../../..');
const READY_MS = 120_000;
const ANSWER_MS = 60_000;
const KEPT_LINES = 60;

/** A program of ours in a process of its own, as people run it, with a probe inside. */
export class Subject {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #ready: Promise<Record<string, unknown>>;
  #asked = 0;
  #ended: string | undefined;

  private constructor(name: string, args: readonly string[]) {
    this.name = name;
    const execArgv = ['--expose-gc', '--import', join(import.meta.dirname, 'probe.ts')];
    this.#child = fork(join(root, 'cli/main.ts'), [...args], { execArgv, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    const ready = Promise.withResolvers<Record<string, unknown>>();
    this.#ready = ready.promise;
    this.#ready.catch(() => {});
    for (const stream of [this.#child.stdout, this.#child.stderr])
      if (stream !== null)
        createInterface({ input: stream }).on('line', (line) => {
          this.#lines.push(line.slice(0, 500));
          if (this.#lines.length > KEPT_LINES) this.#lines.shift();
          if (stream === this.#child.stdout && line.startsWith('{')) ready.resolve(JSON.parse(line) as Record<string, unknown>);
        });
    this.#child.once('exit', (code, signal) => {
      this.#ended = `${name} has ended with ${signal ?? code}`;
      ready.reject(new Error(`${this.#ended}\n${this.log}`));
    });
  }

  /** @returns once it has printed its ready line */
  static async start(name: string, args: readonly string[]): Promise<Subject> {
    const subject = new Subject(name, args);
    const late = AbortSignal.timeout(READY_MS);
    const gaveUp = new Promise<never>((_, reject) => {
      late.addEventListener('abort', () => reject(new Error(`${name} is not ready\n${subject.log}`)));
    });
    await Promise.race([subject.#ready, gaveUp]);
    return subject;
  }

  /** What it said in its first line. */
  get said(): Promise<Record<string, unknown>> {
    return this.#ready;
  }

  /** Its last lines. */
  get log(): string {
    return this.#lines.join('\n');
  }

  /** Why it runs no more; undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended;
  }

  ask(ask: Ask['ask']): Promise<Measured> {
    const id = ++this.#asked;
    const answer = Promise.withResolvers<Measured>();
    const onMessage = (measured: Measured): void => {
      if (measured.id === id) answer.resolve(measured);
    };
    const onExit = (): void => answer.reject(new Error(`${this.#ended ?? this.name}\n${this.log}`));
    const late = setTimeout(() => answer.reject(new Error(`${this.name} does not answer\n${this.log}`)), ANSWER_MS);
    this.#child.on('message', onMessage);
    this.#child.once('exit', onExit);
    if (this.#ended !== undefined) onExit();
    else this.#child.send({ id, ask } satisfies Ask);
    return answer.promise.finally(() => {
      clearTimeout(late);
      this.#child.off('message', onMessage);
      this.#child.off('exit', onExit);
    });
  }

  async stop(): Promise<void> {
    if (this.#ended !== undefined) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 5_000);
    await exit;
    clearTimeout(late);
  }
}
