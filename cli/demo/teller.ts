import type { Context } from '../command.ts';
import { paintFor, type Paint } from '../output/output.ts';

/** Tells the story: a numbered step, what happened under it, and how long each took. */
export class Teller {
  readonly #context: Context;
  readonly #paint: Paint;
  readonly #began: number;
  #step = 0;
  #since: number;

  constructor(context: Context) {
    this.#context = context;
    this.#paint = paintFor(context, context.stdout);
    this.#began = context.clock.monotonic();
    this.#since = this.#began;
  }

  step(title: string): void {
    this.#since = this.#context.clock.monotonic();
    this.#context.stdout.write(`\n${this.#paint.bold(`${++this.#step}. ${title}`)}\n`);
  }

  /** Something happened, this long after the step began. */
  happened(what: string): void {
    const seconds = ((this.#context.clock.monotonic() - this.#since) / 1000).toFixed(2).padStart(6);
    this.#context.stdout.write(`${this.#paint.green(`${seconds} s`)}  ${what}\n`);
  }

  /** A command that an admin would type, and what it answers. */
  typed(command: string, output: string): void {
    const lines = output
      .trimEnd()
      .split('\n')
      .map((line) => `          ${line}`.trimEnd());
    this.#context.stdout.write(`          ${this.#paint.cyan(`$ ${command}`)}\n${lines.join('\n')}\n`);
  }

  note(text: string): void {
    this.#context.stdout.write(`          ${this.#paint.dim(text)}\n`);
  }

  /** Seconds since the story began. */
  get seconds(): string {
    return ((this.#context.clock.monotonic() - this.#began) / 1000).toFixed(1);
  }
}
