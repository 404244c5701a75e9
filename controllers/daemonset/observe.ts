import type { Clock } from '../../base/clock.ts';
import { daemonSets } from '../../kube/api/resources.ts';
import type { Key } from '../../kube/cache/contract.ts';
import { planClaim } from '../../kube/controller/claim-plan.ts';
import type { Expectations } from '../../kube/controller/expectations.ts';
import { isControlledBy } from '../../kube/controller/owner-refs.ts';
import { planHistory } from '../common/history/plan.ts';
import { orphanValue, ownedOrOrphaned } from '../common/owner-index.ts';
import { BY_NODE, type Caches } from './caches.ts';
import type { SetFacts } from './facts.ts';
import type { StatusCounter } from './status-counter.ts';
import { selects, type Decide } from './recount.ts';
import type { SetMemory } from '../common/set-memory.ts';
import type { Rules } from './rules.ts';

export interface Observer {
  caches: Caches;
  counter: StatusCounter;
  memory: SetMemory;
  expectations: Expectations;
  clock: Clock;
  decide: (rules: Rules) => Decide;
}

/** The facts of one set, out of the caches as they are now. */
export function observe(key: Key, rules: Rules, { caches, counter, memory, expectations, clock, decide }: Observer): SetFacts {
  const { set } = rules;
  const { namespace = '' } = set.metadata;
  const isSelected = selects(rules);
  const now = clock.now();
  const revisions = planClaim(set, ownedOrOrphaned(caches.revisions, set), isSelected);
  const { adopt } = planClaim(set, caches.pods.indexed(BY_NODE, orphanValue(namespace)), isSelected);
  const history = planHistory(
    {
      owner: set,
      template: rules.template,
      collisionCount: set.status?.collisionCount,
      revisions: [...revisions.keep, ...revisions.adopt],
      // Asked for when there are revisions of one content alone, which is rare; to list them all each time is not.
      get pods() {
        return [...caches.pods.list(namespace).filter((pod) => isControlledBy(pod, set) && isSelected(pod)), ...adopt];
      },
    },
    daemonSets,
  );
  const { summary, unselected } = counter.count(rules, history.hash, decide(rules), now, adopt);
  return {
    rules,
    now,
    pendingMs: expectations.requeueAfter(key) ?? 0,
    adoption: { pods: { keep: [], adopt, release: [...unselected] }, revisions },
    history,
    summary,
    memory: memory.of(rules),
  };
}
