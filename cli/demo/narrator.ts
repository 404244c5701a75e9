import { paintFor, type Paint } from '../output/output.ts';
import { ActionError } from '../../base/errors.ts';
import { coreEvents } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Context } from '../command.ts';
import { commands } from '../commands.ts';
import { dispatch } from '../dispatch.ts';

/**
 * Runs a command of dkc as an admin would, and prints it with its output.
 * @param where - the flag that points it to the demo's node or cluster; not printed
 * @throws {ActionError} when the command fails
 */
export async function typed(context: Context, narrator: Narrator, argv: readonly string[], where: string): Promise<void> {
  let output = '';
  const sink = { write: (text: string) => void (output += text), isTTY: false, columns: 100 };
  const code = await dispatch(commands, [...argv, where], { ...context, stdout: sink, stderr: sink });
  const command = ['dkc', ...argv].join(' ');
  narrator.typed(command, output);
  // 1 is a valid result: a check failed.
  if (code > 1) throw new ActionError('run', command, { hint: `it exited with ${code}` });
}

/** An alias for a second shell while the demo keeps running: a checkout has no `dkc` in PATH. */
export const aliasLine = (): string => `alias dkc='${process.execPath} ${process.argv[1] ?? ''}'`;

/** Waits for an event with this reason and these words in its message; events arrive a moment after their cause. @returns its text */
export async function eventText({ clock, signal }: Context, client: Pick<Client, 'list'>, reason: string, words = ''): Promise<string> {
  for (let tries = 0; tries < 150; tries++) {
    const { items } = await client.list(coreEvents, {}, { signal });
    const event = items.find((one) => one['reason'] === reason && String(one['message']).includes(words));
    if (event) return `event ${reason}: ${String(event['message'])}`;
    await clock.sleep(200, signal);
  }
  return `no event ${reason} yet`;
}

/** Prints the scenario: numbered steps, what happened in each, and how long it took. */
export class Narrator {
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

  /** Prints what happened, with the time since the step began. */
  event(what: string): void {
    const seconds = ((this.#context.clock.monotonic() - this.#since) / 1000).toFixed(2).padStart(6);
    this.#context.stdout.write(`${this.#paint.green(`${seconds} s`)}  ${what}\n`);
  }

  /** Prints a command and its output. */
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

  /** Seconds since the start of the demo. */
  get seconds(): string {
    return ((this.#context.clock.monotonic() - this.#began) / 1000).toFixed(1);
  }
}
