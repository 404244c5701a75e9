/** Characters of pods that are written in one turn: a few ms of it. */
export const MAX_TURN_TEXT = 4 * 2 ** 20;

const sizes = new WeakMap<object, number>();

/**
 * How many pods of a template may be written at once. Each is copied and turned into text in the turn in which it is sent, so that a template of a
 * megabyte leaves room for a few and not for five hundred.
 * @param template - never changed afterwards: it is measured once
 * @returns 1 to `most`
 */
export function batchOf(template: object, most: number): number {
  let size = sizes.get(template);
  if (size === undefined) {
    size = JSON.stringify(template).length;
    sizes.set(template, size);
  }
  return Math.max(1, Math.min(most, Math.floor(MAX_TURN_TEXT / Math.max(1, size))));
}
