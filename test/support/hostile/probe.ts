import { setImmediate as nextTurn } from 'node:timers/promises';

/*
 * Loaded before a program of ours (`node --expose-gc --import probe.ts cli/main.ts ...`), with a channel to the test that started it. It measures from
 * within, changes nothing, and keeps nothing alive.
 *
 * A turn of the event loop is measured by a timer: how late it comes, or the processor time that the thread took meanwhile in user mode, whichever is less. On a busy or a virtual
 * machine the loop may stand still for reasons that say nothing about the program.
 */

/** What is asked. `mark` starts a new measurement. */
export interface Ask {
  id: number;
  ask: 'mark' | 'look';
}

export interface Measured {
  id: number;
  /** Of the event loop, since the last mark, in ms. */
  longestTurnMs: number;
  /** In use after a full collection. */
  heapBytes: number;
  /** How long a fixed piece of work takes here: the machine's speed, as this process has it now. */
  pieceMs: number;
}

const EVERY_MS = 10;

let longest = 0;
let lastAt = performance.now();
let lastThread = threadMs();

function threadMs(): number {
  return process.threadCpuUsage().user / 1_000;
}

function tick(): void {
  const [now, thread] = [performance.now(), threadMs()];
  longest = Math.max(longest, Math.min(now - lastAt - EVERY_MS, thread - lastThread));
  [lastAt, lastThread] = [now, thread];
}
setInterval(tick, EVERY_MS).unref();

const rows = Array.from({ length: 500 }, (_, at) => ({ name: `row-${at}`, labels: { a: String(at), b: 'c' } }));

/** Makes and reads JSON, as our programs mostly do; the middle one of many. */
function piece(): number {
  const times = Array.from({ length: 21 }, () => {
    const from = performance.now();
    JSON.parse(JSON.stringify(rows));
    return performance.now() - from;
  });
  return times.toSorted((a, b) => a - b)[10] ?? Infinity;
}

async function collected(): Promise<number> {
  // Twice: what a finalizer or a weak reference releases is free the second time.
  for (let n = 0; n < 2; n++) {
    await nextTurn();
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

process.on('message', (asked: Ask) => {
  void answer(asked);
});
process.channel?.unref();

async function answer({ id, ask }: Ask): Promise<void> {
  const longestTurnMs = longest;
  const pieceMs = piece();
  const heapBytes = await collected();
  // Our own work was no turn of the program's.
  [lastAt, lastThread] = [performance.now(), threadMs()];
  longest = ask === 'mark' ? 0 : longestTurnMs;
  process.send?.({ id, longestTurnMs, heapBytes, pieceMs } satisfies Measured);
}
