import type { Rejection } from '../plugins/rejection.ts';

/** Rejections as small numbers, for columns: 0 is no rejection. The same reasons have the same number. */
export class Verdicts {
  readonly #byKey = new Map<string, number>();
  readonly #known: (Rejection | undefined)[] = [undefined];
  readonly #seen = new WeakMap<Rejection, number>();

  code(rejection: Rejection | undefined): number {
    if (rejection === undefined) return 0;
    const seen = this.#seen.get(rejection);
    if (seen !== undefined) return seen;
    const key = JSON.stringify([rejection.plugin, rejection.resolvable, rejection.reasons]);
    let code = this.#byKey.get(key);
    if (code === undefined) {
      code = this.#known.length;
      this.#known.push(rejection);
      this.#byKey.set(key, code);
    }
    this.#seen.set(rejection, code);
    return code;
  }

  of(code: number): Rejection | undefined {
    return this.#known[code];
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
