import type { Running } from './running.ts';
import { observeMeta, planMetaChange } from './meta-watch.ts';
import { layout } from './store/layout.ts';
import { Signal } from '../base/signal.ts';

/** Notices what an admin's command changed in the records, and lines in the exits file. Works with the API server away. */
export async function watchMeta({ options, world, store, situation, departure, trial }: Running): Promise<void> {
  const paths = layout(options.dynamicConfigDir);
  const records = [paths.condemned, paths.meta('assigned'), paths.meta('last-known-good')];
  const due = new Signal();
  due.raise(); // something may have changed between boot and the first watch
  const watching = world.watchFiles(
    [...records, options.kubeletExits],
    (path) => {
      if (path === options.kubeletExits) trial.poke();
      else due.raise();
    },
    departure.signal,
  );
  while (!departure.signal.aborted) {
    await due.wait(departure.signal);
    if (departure.signal.aborted) break;
    try {
      const why = planMetaChange(await observeMeta(store, situation));
      if (why !== undefined) await departure.leave(why);
    } catch (error) {
      world.log.warn('records cannot be read', { error });
    }
  }
  await watching;
}
