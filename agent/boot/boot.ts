import { type Boot, planBoot } from './plan.ts';
import { execute } from './execute.ts';
import { observe } from './observe.ts';

/**
 * Chooses this node's config from disk alone and puts it into the effective file. Ends well whatever the store looks like: with the
 * assigned, else last-known-good, else the local config, else the file that was there.
 * @see docs/state-machines.md, "Boot"
 */
export const boot: Boot = async (deps) => {
  let held = false;
  try {
    // One lock for all of it: each taking costs a process, and an agent starts for every change of its node.
    return await deps.store.locked(() => {
      held = true;
      return choose(deps);
    });
  } catch (error) {
    if (held) throw error;
    deps.log.error('failed to lock store, booting without the lock', { error });
    return choose(deps);
  }
};

const choose: Boot = async (deps) => {
  const { store, log } = deps;
  await store.initialize().catch((error: unknown) => log.error('failed to prepare store, reading it as it is', { error }));
  const swept = await store.sweep().catch((error: unknown) => {
    log.error('failed to remove leftovers of an interrupted write', { error });
    return [];
  });
  if (swept.length > 0) log.info('removed leftovers of an interrupted write', { paths: swept });
  const observed = await observe(deps);
  return execute(planBoot(observed.facts), observed, deps);
};
