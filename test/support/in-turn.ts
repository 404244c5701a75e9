/** The day that a part is chosen by: a failure on another day is played again with the number that it printed, or with all. */
export const DAY = Number(process.env['DKC_SWEEP_WHICH'] ?? Math.floor(Date.now() / 86_400_000));

/** Every so many of a list, other ones each day, so that none is left out for good. @param every - 1: all */
export function inTurn<T>(list: readonly T[], every: number): readonly T[] {
  return list.filter((_, index) => index % every === DAY % every);
}

/** Sweeps take a story again for each of its calls: with DKC_SWEEP_EVERY=4 every fourth story is swept, where a machine has no time for all. @default 1 */
export const swept = <T>(stories: readonly T[]): readonly T[] => inTurn(stories, Number(process.env['DKC_SWEEP_EVERY'] ?? 1));
