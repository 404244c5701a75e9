/** Ordinals have 31 bits, as on the server. */
export const LARGEST_ORDINAL = 2 ** 31 - 1;

/** More than anyone reserves. The list of a set is parsed at each reconcile, and a range is easily written too long. */
const MAX_ORDINALS = 10_000;
const PIECE = /^([0-9]{1,10})(?:\s*-\s*([0-9]{1,10}))?$/;

/** The set and the ordinal that a pod's name contains. */
export interface Identity {
  parent: string;
  ordinal: number;
}

/**
 * Reads the name of a StatefulSet's pod. Pure.
 * @returns undefined for a name without an ordinal, with one beyond 31 bits, or with one in another form than a set writes it (`web-01`): such a pod would
 * take the place of the real one
 */
export function identityOf(podName: string): Identity | undefined {
  const dash = podName.lastIndexOf('-');
  const digits = podName.slice(dash + 1);
  const ordinal = Number(digits);
  // Only the canonical form: neither `01`, nor `1e3`, nor ''.
  if (dash < 0 || !(ordinal >= 0 && ordinal <= LARGEST_ORDINAL) || String(ordinal) !== digits || !Number.isInteger(ordinal))
    return undefined;
  return { parent: podName.slice(0, dash), ordinal };
}

/** Both ends are included. */
export interface OrdinalRange {
  from: number;
  to: number;
}

/**
 * Reads a list of ordinals and inclusive ranges: `1,3-5`. Pure. An empty text is an empty list.
 * @returns ascending and without overlaps; undefined for anything else, for a descending range, an ordinal beyond 31 bits, or more than 10,000 ordinals
 */
export function ordinalRangesIn(text: string): readonly Readonly<OrdinalRange>[] | undefined {
  const ranges: OrdinalRange[] = [];
  for (const piece of text === '' ? [] : text.split(',')) {
    const [, from, to = from] = PIECE.exec(piece.trim()) ?? [];
    if (from === undefined || Number(from) > Number(to) || Number(to) > LARGEST_ORDINAL) return undefined;
    ranges.push({ from: Number(from), to: Number(to) });
  }
  const apart: OrdinalRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last !== undefined && range.from <= last.to) last.to = Math.max(last.to, range.to);
    else apart.push(range);
  }
  const count = apart.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  return count > MAX_ORDINALS ? undefined : apart;
}
