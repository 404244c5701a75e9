import type { Rejection, Rejector } from '../plugins/names.ts';

/** Numbers must fit into the columns, of which the highest is another thing: see {@link ABSENT}. */
export const ABSENT = 0xff_ff;
/** Reasons name taints and resources of users' choice: past so many, or of so much text, all is forgotten between two decisions. */
const MAX_KNOWN = 8_192;
const MAX_TEXT = 4 * 1024 * 1024;

/** Rejections as small numbers, for columns: 0 is no rejection. The same reasons have the same number. */
export class RejectionTable {
  readonly #byKey = new Map<string, number>();
  readonly #known: (Rejection | undefined)[] = [undefined];
  #seen = new WeakMap<Rejection, number>();
  #text = 0;

  /** It is to be {@link clear}ed, with all columns, as soon as no decision is under way. */
  get isFull(): boolean {
    return this.#known.length > MAX_KNOWN || this.#text > MAX_TEXT;
  }

  get size(): number {
    return this.#known.length - 1;
  }

  /** @throws {RangeError} when more different ones come than a column can tell apart */
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

  /** No column may hold a number from before. */
  clear(): void {
    this.#byKey.clear();
    this.#known.length = 1;
    this.#seen = new WeakMap();
    this.#text = 0;
  }
}

/** A column with room for so many slots: the old one, or a larger copy of it. */
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

/** Why a pod found no place. */
export interface FitError {
  /** Nodes there are. */
  readonly nodes: number;
  /** Nodes by reason; a node with several reasons counts for each. */
  readonly reasons: ReadonlyMap<string, number>;
  /** Why no node can help, where that is so: then nodes were not asked. */
  readonly everywhere: string | undefined;
  readonly by: ReadonlySet<Rejector>;
  /** Nodes where it may help to take pods away. */
  readonly resolvable: number;
}

/**
 * What nodes say, told together.
 * @param nodes - nodes there are
 * @param refused - by rejection how many nodes say so; the same rejection may come more than once, and with 0 it does not count
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

/** As people read it: `0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.` @param more - said after it, such as what preemption found */
export function fitErrorText({ nodes, reasons, everywhere }: FitError, more = ''): string {
  if (nodes === 0) return 'no nodes available to schedule pods';
  const counted = [...reasons].map(([reason, count]) => `${count} ${reason}`).toSorted(byText);
  const why = everywhere !== undefined ? ` ${everywhere}.` : counted.length === 0 ? '' : ` ${counted.join(', ')}.`;
  return `0/${nodes} nodes are available:${why}${more === '' ? '' : ` ${more}`}`;
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
