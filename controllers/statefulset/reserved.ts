import { ordinalRangesIn } from '../../kube/api/ordinals.ts';

/**
 * Reads a list of ordinals as {@link ordinalRangesIn} does. Pure.
 * @returns each of them, ascending; undefined for what is no list
 */
export function ordinalsIn(text: string): readonly number[] | undefined {
  return ordinalRangesIn(text)?.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, at) => from + at));
}
