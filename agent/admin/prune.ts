import { viewActive } from './active.ts';
import { isKnown, recorded, type AdminFacts } from './facts.ts';
import { sourceOf } from './roles.ts';
import type { Source } from '../checkpoint/source.ts';
import { planPrune } from '../store/prune.ts';
import type { Store } from '../store/store.ts';

/** One element of `dkc checkpoints prune -o json`: what may go. */
export interface Pruned {
  source: Source;
  /** False in a dry run. */
  removed: boolean;
}

/** Removes what {@link planPrune} lets go, in one change of the store. */
export async function prune(store: Store, observe: () => Promise<AdminFacts>, asked: { keep: number; dryRun: boolean }): Promise<Pruned[]> {
  if (asked.dryRun) return spare(await observe(), asked.keep).map((source) => ({ source, removed: false }));
  return store.locked(async (held) => {
    const removed: Pruned[] = [];
    for (const source of spare(await observe(), asked.keep)) {
      await held.removeCheckpoint(source);
      removed.push({ source, removed: true });
    }
    return removed;
  });
}

function spare(facts: AdminFacts, keep: number): Source[] {
  const decisions = planPrune({
    entries: facts.entries,
    assignedKnown: isKnown(facts.assigned),
    assigned: recorded(facts.assigned),
    lastKnownGood: recorded(facts.lastKnownGood),
    active: viewActive(facts).source,
    effectiveText: facts.effective.text,
    keep,
  });
  return decisions.filter((decision) => decision.kept === undefined).map(({ entry }) => sourceOf(entry, facts));
}
