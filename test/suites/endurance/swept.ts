/** Sweeps take a story again for each of its calls: with DKC_SWEEP_EVERY=4 every fourth story is swept, where a machine has no time for all. @default 1 */
const EVERY = Number(process.env['DKC_SWEEP_EVERY'] ?? 1);
/** Which of every so many. @default another one each day, so that none is left out for good; a failure names its story */
const WHICH = Number(process.env['DKC_SWEEP_WHICH'] ?? Math.floor(Date.now() / 86_400_000));

export function swept<T>(stories: readonly T[]): readonly T[] {
  return stories.filter((_, index) => index % EVERY === WHICH % EVERY);
}
