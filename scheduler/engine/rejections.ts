import type { Rejection, Rejector } from '../plugins/names.ts';

/** The highest value of a column is no rejection: it marks a slot without a node. */
export const ABSENT = 0xff_ff;
/** Reasons contain taints and resources that users choose: past this number, or this much text, the table is cleared between two decisions. */
const MAX_KNOWN = 8_192;
const MAX_TEXT = 4 * 1024 * 1024;

/** Rejections as small numbers, for columns: 0 is no rejection. The same reasons have the same number. */
export class RejectionTable {
  readonly #byKey = new Map<string, number>();
  readonly #known: (Rejection | undefined)[] = [undefined];
  #seen = new WeakMap<Rejection, number>();
  #text = 0;

  /** The table must be {@link clear}ed, with all columns, before the next decision. */
  get isFull(): boolean {
    return this.#known.length > MAX_KNOWN || this.#text > MAX_TEXT;
  }

  get size(): number {
    return this.#known.length - 1;
  }

  /** @throws {RangeError} when there are more different rejections than a column can represent */
  code(rejection: Rejection | undefined): number {
    if (rejection === undefined) return 0;
    const seen = this.#seen.get(rejection);
    if (seen !== undefined) return seen;
    const key = JSON.stringify([rejection.plugin, rejection.resolvable, rejection.reasons]);
    let code = this.#byKey.get(key);
    if (code === undefined) {
      code = this.#known.length;
      if (code >= ABSENT) throw new RangeError(`nodes refuse the pod for more than ${ABSENT - 1} different reasons`);
      this.#known.push(rejection);
      this.#byKey.set(key, code);
      this.#text += key.length;
    }
    this.#seen.set(rejection, code);
    return code;
  }

  of(code: number): Rejection | undefined {
    return this.#known[code];
  }

  /** No column may keep an earlier number. */
  clear(): void {
    this.#byKey.clear();
    this.#known.length = 1;
    this.#seen = new WeakMap();
    this.#text = 0;
  }
}

/** A column with at least this many slots: the given one, or a larger copy. */
export function grown<T extends Uint8Array | Uint16Array | Int32Array | Float64Array>(
  column: T,
  slots: number,
  make: (length: number) => T,
): T {
  if (column.length >= slots) return column;
  const larger = make(Math.max(64, slots, column.length * 2));
  larger.set(column);
  return larger;
}

/** Why a pod is unschedulable. */
export interface FitError {
  /** Number of nodes. */
  readonly nodes: number;
  /** Number of nodes by reason; a node with several reasons counts for each. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Why no node can help: then no node was filtered. Undefined: nodes were filtered. */
  readonly everywhere: string | undefined;
  readonly by: ReadonlySet<Rejector>;
  /** Number of nodes where preemption may help. */
  readonly resolvable: number;
}

/**
 * Combines the rejections of nodes.
 * @param nodes - number of nodes
 * @param refused - rejections with their number of nodes; a rejection may come more than once, and with 0 it does not count
 */
export function fitErrorOf(nodes: number, refused: Iterable<readonly [Rejection, number]>): FitError {
  const reasons = new Map<string, number>();
  const by = new Set<Rejector>();
  let resolvable = 0;
  for (const [rejection, count] of refused) {
    if (count === 0) continue;
    by.add(rejection.plugin);
    if (rejection.resolvable) resolvable += count;
    for (const reason of rejection.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  }
  return { nodes, reasons, everywhere: undefined, by, resolvable };
}

/** Text for users: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` @param more - appended, such as the result of preemption */
export function fitErrorText({ nodes, reasons, everywhere }: FitError, more = ''): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted(byText);
  const why = everywhere !== undefined ? ` ${everywhere}.` : counted.length === 0 ? '' : ` ${counted.join(', ')}.`;
  return `0/${nodes} nodes are available:${why}${more === '' ? '' : ` ${more}`}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
