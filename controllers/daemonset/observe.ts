import type { Clock } from '../../base/clock.ts';
import type { Key } from '../../kube/cache/contract.ts';
import type { Expectations } from '../../kube/controller/expectations.ts';
import { isControlledBy } from '../../kube/controller/owner-refs.ts';
import { orphanValue, ownedOrOrphaned } from '../common/owner-index.ts';
import { BY_NODE, type Caches } from './caches.ts';
import type { Observed } from './facts.ts';
import type { StatusCounter } from './status-counter.ts';
import type { Decide } from './recount.ts';
import type { SetMemory } from '../common/set-memory.ts';
import { selects, type Rules } from './rules.ts';

export interface Observer {
  caches: Caches;
  counter: StatusCounter;
  memory: SetMemory;
  expectations: Expectations;
  clock: Clock;
  decide: (rules: Rules) => Decide;
}

/** What the caches have of one set now. It only reads: what follows from it is for the plan. */
export function observe(key: Key, rules: Rules, { caches, counter, memory, expectations, clock, decide }: Observer): Observed {
  const { set } = rules;
  const { namespace = '' } = set.metadata;
  const now = clock.now();
  return {
    rules,
    now,
    pendingMs: expectations.requeueAfter(key) ?? 0,
    memory: memory.of(rules),
    revisions: ownedOrOrphaned(caches.revisions, set),
    orphans: caches.pods.indexed(BY_NODE, orphanValue(namespace)),
    ownPods: () => {
      const isSelected = selects(rules);
      return caches.pods.list(namespace).filter((pod) => isControlledBy(pod, set) && isSelected(pod));
    },
    count: (hash, adopted) => counter.count(rules, hash, decide(rules), now, adopted),
  };
}
