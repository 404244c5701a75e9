import { paintFor, type Paint } from '../output/output.ts';
import { ActionError } from '../../base/errors.ts';
import { coreEvents } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Context } from '../command.ts';
import { commands } from '../commands.ts';
import { dispatch } from '../dispatch.ts';

/**
 * Runs a command of dkc as an admin would, and shows it with what it answers.
 * @param where - the flag that leads it to the demo's node or cluster; not shown
 * @throws {ActionError} when the command fails
 */
export async function typed(context: Context, teller: Teller, argv: readonly string[], where: string): Promise<void> {
  let output = '';
  const sink = { write: (text: string) => void (output += text), isTTY: false, columns: 100 };
  const code = await dispatch(commands, [...argv, where], { ...context, stdout: sink, stderr: sink });
  const command = ['dkc', ...argv].join(' ');
  teller.typed(command, output);
  // 1 is an answer: a check that failed.
  if (code > 1) throw new ActionError('run', command, { hint: `it exited with ${code}` });
}

/** For a shell beside a demo that stays up: from a checkout there is no `dkc` in PATH. */
export const aliasLine = (): string => `alias dkc='${process.execPath} ${process.argv[1] ?? ''}'`;

/** An event with this reason whose message has these words, as text; events come a moment after what they tell of. */
export async function eventText({ clock, signal }: Context, client: Pick<Client, 'list'>, reason: string, words = ''): Promise<string> {
  for (let tries = 0; tries < 150; tries++) {
    const { items } = await client.list(coreEvents, {}, { signal });
    const event = items.find((one) => one['reason'] === reason && String(one['message']).includes(words));
    if (event) return `event ${reason}: ${String(event['message'])}`;
    await clock.sleep(200, signal);
  }
  return `no event ${reason} yet`;
}

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
