import type { Landing } from './plan.ts';
import type { AdminFacts } from '../facts.ts';
import type { BootDeps } from '../../boot/boot.ts';
import { observe } from '../../boot/observe.ts';
import { planBoot } from '../../boot/plan.ts';
import type { Store } from '../../store/store.ts';

/**
 * Where boot would arrive if the store said `then`: by boot's own eyes and plan, so that this node's local config, policy, kubelet and
 * rules are what judges. Nothing is written.
 */
export async function foresee(then: AdminFacts, deps: BootDeps): Promise<Landing> {
  const { facts } = await observe({ ...deps, store: asIf(then, deps.store) });
  const { used, source, effective } = planBoot(facts);
  return { used, source, effective, assigned: facts.assigned, lastKnownGood: facts.lastKnownGood };
}

/** The checkpoints of `store` under the records of `then`. */
function asIf(then: AdminFacts, store: Store): Store {
  const refuse = (): Promise<never> => Promise.reject(new RangeError('a look ahead changes nothing'));
  return {
    record: async (name) => (name === 'assigned' ? then.assigned : then.lastKnownGood),
    condemned: async () => then.condemned,
    trial: async () => then.trial,
    refused: async () => then.refused,
    // A checkpoint of upstream gets its manifest from the agent, not from a look.
    load: (ref) => store.load(ref),
    list: () => store.list(),
    journal: () => store.journal(),
    verify: () => store.verify(),
    initialize: refuse,
    sweep: refuse,
    setRecord: refuse,
    setAside: refuse,
    save: refuse,
    removeCheckpoint: refuse,
    setTrial: refuse,
    setCondemned: refuse,
    settleCondemned: refuse,
    setRefused: refuse,
    addToJournal: refuse,
    locked: refuse,
  };
}
