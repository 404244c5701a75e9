import type { RollbackStep } from './plan.ts';
import type { Store } from '../../store/store.ts';
import { unreachable } from '../../../base/errors.ts';

/** Does the steps in order; call it under the store lock. */
export async function executeRollback(store: Store, steps: readonly RollbackStep[]): Promise<void> {
  for (const step of steps) {
    switch (step.do) {
      case 'trust':
        await store.setRecord('last-known-good', step.source);
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
