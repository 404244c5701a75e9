import type { AdminFacts } from '../facts.ts';
import { arrives, intendRollback, type Landing, planRollback, type RollbackOptions, type RollbackPlan, type RollbackStep } from './plan.ts';
import { planBoot } from '../../boot/plan.ts';
import { sameContent } from '../../checkpoint/payload.ts';
import type { CondemnedRecord, JournalLine, Store } from '../../store/store.ts';
import { describeError, unreachable } from '../../../base/errors.ts';
import { type BootDeps, observe } from '../../boot/observe.ts';

/** Predicts where boot would arrive for each route, in order, and plans the first that reaches its goal. Writes nothing; call it under the store lock. */
export async function decideRollback(facts: AdminFacts, options: RollbackOptions, deps: BootDeps): Promise<RollbackPlan> {
  const intent = intendRollback(facts, options);
  if (intent.at === 'refused') return intent;
  for (const route of intent.routes) {
    const landing = await predict(route.after, deps);
    if (route === intent.routes.at(-1) || arrives(route, landing)) return planRollback(intent, route, landing);
  }
  throw new RangeError('a rollback without a route');
}

/**
 * Executes the steps in order; call it under the store lock. A failed journal entry does not undo a step.
 * @returns a note about a failed journal entry, or undefined
 */
export async function executeRollback(store: Store, steps: readonly RollbackStep[]): Promise<string | undefined> {
  let note: string | undefined;
  for (const step of steps) {
    switch (step.do) {
      case 'set-last-known-good':
        await store.setRecord('last-known-good', step.source);
        break;
      case 'assign':
        await store.setRecord('assigned', step.source);
        break;
      case 'clear-condemned':
        await store.setCondemned((await store.condemned()).filter((record) => !sameContent(record, step.content)));
        break;
      case 'condemn':
        await store.setCondemned([...(await store.condemned()), step.record]);
        break;
      case 'journal':
        note = (await journaled(store, step.line)) ?? note;
        break;
      default:
        unreachable(step);
    }
  }
  return note;
}

const journaled = (store: Store, line: JournalLine): Promise<string | undefined> =>
  store.addToJournal(line).then(
    () => undefined,
    (error: unknown) => `done, but it is missing in the journal: ${describeError(error)}`,
  );

/**
 * Where boot would arrive with the records of `then`. Runs boot's own observe and plan, so this node's local config, policy, kubelet and rules count.
 * Writes nothing.
 */
async function predict(then: AdminFacts, deps: BootDeps): Promise<Landing> {
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
    // Without `adopt`: a prediction writes no manifest for a checkpoint of upstream.
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

/** Removes exactly `cleared` from the condemnations; call it under the store lock. @returns as {@link executeRollback} */
export async function executeRetry(
  store: Store,
  cleared: readonly CondemnedRecord[],
  journal: readonly JournalLine[],
): Promise<string | undefined> {
  if (cleared.length === 0) return undefined;
  const gone = new Set(cleared.map(identity));
  await store.setCondemned((await store.condemned()).filter((record) => !gone.has(identity(record))));
  let note: string | undefined;
  for (const line of journal) note = (await journaled(store, line)) ?? note;
  return note;
}

function identity({ uid, resourceVersion, kubeletConfigKey, contentSha256, by, at }: CondemnedRecord): string {
  return JSON.stringify([uid, resourceVersion, kubeletConfigKey, contentSha256, by, at]);
}
