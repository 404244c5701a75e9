import type { AdminFacts } from '../facts.ts';
import { foresee } from './foresee.ts';
import { arrives, intendRollback, planRollback, type RollbackAsked, type RollbackPlan, type RollbackStep } from './plan.ts';
import type { BootDeps } from '../../boot/boot.ts';
import { sameContent } from '../../store/content.ts';
import type { Store } from '../../store/store.ts';
import { unreachable } from '../../../base/errors.ts';

/** Decides where to go by what boot would make of each way, in order. Nothing is written; call it under the store lock. */
export async function decideRollback(facts: AdminFacts, asked: RollbackAsked, deps: BootDeps): Promise<RollbackPlan> {
  const intent = intendRollback(facts, asked);
  if (intent.at === 'refused') return intent;
  for (const way of intent.ways) {
    const landing = await foresee(way.after, deps);
    if (way === intent.ways.at(-1) || arrives(way, landing)) return planRollback(intent, way, landing);
  }
  throw new RangeError('a rollback without a way');
}

/** Does the steps in order; call it under the store lock. */
export async function executeRollback(store: Store, steps: readonly RollbackStep[]): Promise<void> {
  for (const step of steps) {
    switch (step.do) {
      case 'trust':
        await store.setRecord('last-known-good', step.source);
        break;
      case 'assign':
        await store.setRecord('assigned', step.source);
        break;
      case 'absolve':
        await store.setCondemned((await store.condemned()).filter((record) => !sameContent(record, step.content)));
        break;
      case 'condemn':
        await store.setCondemned([...(await store.condemned()), step.record]);
        break;
      case 'journal':
        await store.addToJournal(step.line);
        break;
      default:
        unreachable(step);
    }
  }
}
