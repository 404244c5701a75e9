import type { Rules } from '../../../../controllers/statefulset/rules.ts';

/** All ordinals of a small set. */
export function ordinalsOf({ places }: Pick<Rules, 'places'>): number[] {
  return Array.from({ length: places.length }, (_, at) => places.ordinalAt(at));
}
