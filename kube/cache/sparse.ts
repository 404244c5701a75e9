/** Failures that are logged one by one, each with the object it was about. */
const MAX_EACH = 10;

/**
 * Whether the `count`-th failure of one kind is logged: the first ten, and then the 100th, 1,000th, ...: a mistake shows with each of 150,000 objects, and a
 * few lines say as much.
 */
export function isLogged(count: number): boolean {
  return count <= MAX_EACH || /^10*$/.test(String(count));
}
