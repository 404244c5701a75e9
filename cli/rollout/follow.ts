import type { Millis } from '../../base/clock.ts';
import type { NodeConfigRollout } from '../../controllers/rollout/types.ts';
import type { Client } from '../../kube/client/client.ts';
import type { Args } from '../args/args.ts';
import { type Context, type Exit, fine, type Sink, wrong } from '../command.ts';
import { UsageError } from '../failure.ts';
import { span } from '../node/spoken.ts';
import { formatOf, peopleFor } from '../output/output.ts';
import { printable, jsonText, withoutManagedFields } from '../output/printable.ts';
import { blindText } from '../fleet/report-wait.ts';
import type { WatchProblem } from '../fleet/watch-nodes.ts';
import { watchFleetObjects, watchRollout } from './fleet-objects.ts';
import { stepOf, treeText } from './status-text.ts';
import { RUN_CONTROLLER } from '../../deploy/deployments.ts';
import { isObserved, outcomeOf } from './rollouts.ts';
import { viewOf } from './view.ts';

/** Minimum time between two draws of the tree; on a terminal it is also redrawn without a change, for the remaining time of trials. */
const GATHER_MS: Millis = 200;
const REDRAW_MS: Millis = 1_000;
/** A working controller has processed a new spec within this time. */
const UNSEEN_MS: Millis = 15_000;

/** Result with its exit code: 0 if complete, 1 if the rollout failed, was deleted, or on timeout. */
interface End {
  exit?: Exit;
}

/**
 * Shows a rollout until it ends: on a terminal as a tree that is redrawn, otherwise as a line per change, with -o json as an object per line.
 * @throws the signal's reason
 */
export async function follow(context: Context, args: Args, client: Client, name: string): Promise<Exit> {
  const format = formatOf(args);
  if (format !== 'table' && format !== 'wide' && format !== 'json')
    throw new UsageError('rollout watch: works with -o table, wide and json; see dkc rollout watch --help');
  const { clock, signal } = context;
  const over = new AbortController();
  const both = AbortSignal.any([over.signal, signal]);
  const end: End = {};
  const finish = (exit: Exit): void => {
    end.exit ??= exit;
    over.abort();
  };
  const timeoutMs = args.ms('timeout') ?? 0;
  let last: NodeConfigRollout | undefined;
  let watchProblem: WatchProblem = () => undefined;
  const onStart = (problem: WatchProblem): void => void (watchProblem = problem);
  const timeText = (): string => `rollout ${name}: timed out after ${span(timeoutMs)}${last?.status?.phase === undefined ? '' : ` in phase ${last.status.phase}: ${last.status.message ?? ''}`}${blindText(watchProblem())}`; // prettier-ignore
  const stops = [
    ...(timeoutMs > 0 ? [clock.after(timeoutMs, () => finish(wrong(timeText())))] : []),
    clock.after(UNSEEN_MS, () => {
      if (last !== undefined && !isObserved(last)) context.stderr.write(`dkc: note: no rollout controller has processed NodeConfigRollout ${name} yet; is one running? ${RUN_CONTROLLER}\n`); // prettier-ignore
    }),
  ];
  const seen = (rollout: NodeConfigRollout | undefined): void => {
    if (rollout === undefined) finish(wrong(`rollout ${name} was deleted`));
    else {
      last = rollout;
      const exit = exitOf(rollout);
      if (exit !== undefined) finish(exit);
    }
  };
  try {
    const isTree = format !== 'json' && context.stdout.isTTY && context.env['TERM'] !== 'dumb';
    await (isTree
      ? drawTree(context, args, client, name, { seen, onStart }, both)
      : writeLines(context, client, name, format === 'json', { seen, onStart }, both));
  } catch (error) {
    if (end.exit === undefined) throw error;
  } finally {
    for (const stop of stops) stop();
  }
  if (end.exit !== undefined) return end.exit;
  signal.throwIfAborted();
  throw new Error('the watch was closed');
}

/** The result of a command if the rollout has ended; undefined: it has not. */
export function exitOf(rollout: Readonly<NodeConfigRollout>): Exit | undefined {
  const { metadata, status } = rollout;
  switch (outcomeOf(rollout)) {
    case 'complete':
      return fine;
    case 'failed':
      return wrong(`rollout ${metadata.name}: ${status?.phase}: ${status?.message ?? ''}`);
    case 'running':
      return undefined;
  }
}

interface Follower {
  /** Called with each state; undefined: the rollout was deleted. */
  seen: (rollout: NodeConfigRollout | undefined) => void;
  onStart: (watchProblem: WatchProblem) => void;
}

async function drawTree(
  context: Context,
  args: Args,
  client: Client,
  name: string,
  { seen, onStart }: Follower,
  signal: AbortSignal,
): Promise<void> {
  const { clock, random, log, stdout } = context;
  const screen = new Screen(stdout);
  const people = peopleFor(context, args);
  let fleet: Parameters<Parameters<typeof watchFleetObjects>[1]>[0] | undefined;
  let isDue = false;
  const draw = (): void => {
    isDue = false;
    const rollout = fleet?.rollouts.get(name);
    if (fleet === undefined) return;
    if (rollout !== undefined) screen.draw(treeText(viewOf(rollout, fleet, clock.now()), clock.now(), people));
    if (!signal.aborted) seen(rollout);
  };
  const tick = async (): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(REDRAW_MS, signal).catch(() => {});
      if (!signal.aborted) draw();
    }
  };
  const onChange = (now: typeof fleet): void => {
    fleet = now;
    if (isDue || signal.aborted) return;
    isDue = true;
    clock.after(GATHER_MS, draw);
  };
  await Promise.all([watchFleetObjects({ client, clock, random, log }, onChange, signal, onStart), tick()]);
}

async function writeLines(
  context: Context,
  client: Client,
  name: string,
  isJson: boolean,
  { seen, onStart }: Follower,
  signal: AbortSignal,
): Promise<void> {
  let written = '';
  const onSeen = (object: NodeConfigRollout | undefined): void => {
    if (object !== undefined) {
      const line = isJson ? jsonText(withoutManagedFields(object), 0) : `${lineOf(object)}\n`;
      if (line !== written) context.stdout.write(line);
      written = line;
    }
    seen(object);
  };
  const { clock, random, log } = context;
  await watchRollout({ client, clock, random, log }, name, onSeen, signal, onStart);
}

/** `Holding 2/4: 3/10 nodes settled (a, b, c); step 2 is done ...`. */
function lineOf(rollout: Readonly<NodeConfigRollout>): string {
  const { phase = 'Pending', message = '' } = rollout.status ?? {};
  const step = stepOf(rollout);
  const text = isObserved(rollout) ? message : 'waiting for the rollout controller to process the new spec';
  return printable(`${phase}${step === '' ? '' : ` ${step}`}: ${text}`);
}

/** Used if the terminal reports a size of 0, which means unknown. */
const DEFAULT_COLUMNS = 80;
const DEFAULT_ROWS = 24;
/** Color sequences, which take no columns of a line. */
const COLORS = /\u001b\[[0-9;]*m/g;

/** Text that is redrawn in place on a terminal. Text taller than the terminal is cut, since lines that have scrolled away cannot be redrawn. */
class Screen {
  readonly #sink: Sink;
  #rows = 0;
  #drawn = '';

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  draw(text: string): void {
    if (text === this.#drawn) return;
    this.#drawn = text;
    const columns = this.#sink.columns || DEFAULT_COLUMNS;
    const all = text.trimEnd().split('\n').map((line) => clipped(line, columns)); // prettier-ignore
    const most = Math.max(2, (this.#sink.rows || DEFAULT_ROWS) - 1);
    const lines = all.length <= most ? all : [...all.slice(0, most - 1), `... ${all.length - most + 1} more lines`];
    const up = this.#rows === 0 ? '' : `\u001b[${this.#rows}A`;
    this.#sink.write(`${up}${lines.map((line) => `\r\u001b[K${line}\n`).join('')}\u001b[J`);
    this.#rows = lines.length;
  }
}

/** Cuts a line to one row, since a wrapped line would break the count of rows. A cut line has no colors. */
function clipped(line: string, columns: number): string {
  const plain = line.replace(COLORS, '');
  return plain.length < columns ? line : plain.slice(0, columns - 1);
}
