import { explain, type Explained } from '../../controllers/daemonset/explain.ts';
import { noMemory } from '../../controllers/common/set-memory.ts';
import { nameOf } from '../../controllers/daemonset/pods.ts';
import { recount } from '../../controllers/daemonset/summary.ts';
import { rulesOf, type Rules } from '../../controllers/daemonset/rules.ts';
import type { SetInCluster } from './why-daemonset.ts';
import { type Decide, decision } from '../../controllers/daemonset/placement/node-decision.ts';
import { decideByRoom } from '../../controllers/daemonset/placement/three-values.ts';

/** Asks the controller's own decision, as one would find it that has just been started. Pure. */
export function explainSet({ set, placement, nodes, ...cluster }: SetInCluster): Explained[] {
  const rules = rulesOf(set, placement);
  const untouched = whyUntouched(rules);
  if (untouched !== undefined) return nodes.map(nameOf).toSorted().map((object) => ({ object, ...untouched })); // prettier-ignore
  const decide = placement === 'controller' ? byRoom(rules, cluster.pods) : decision(rules);
  const { facts, states: verdicts } = recount(rules, { ...cluster, nodes, pendingMs: 0, memory: noMemory }, decide);
  return explain(facts, verdicts);
}

/** What keeps a controller from doing anything at all for a set. */
function whyUntouched({ set, selector, tooLarge }: Rules): Omit<Explained, 'object'> | undefined {
  if (set.metadata.deletionTimestamp !== undefined)
    return { reason: 'deleting', detail: 'the set is terminating; the garbage collector deletes its pods' };
  if (tooLarge !== undefined) return { reason: 'too-large', detail: `the set is not synced: ${tooLarge}` };
  switch (selector.kind) {
    case 'labels':
      return undefined;
    case 'all':
      return { reason: 'selector', detail: 'the set is not synced: its selector is empty and would select all pods' };
    case 'bad':
      return { reason: 'selector', detail: `the set is not synced: invalid selector: ${selector.why}` };
  }
}

function byRoom(rules: Rules, pods: SetInCluster['pods']): Decide {
  const onNode = Map.groupBy(pods, ({ spec }) => spec?.nodeName ?? '');
  return decideByRoom(rules, { indexed: (_, node) => onNode.get(node) ?? [] });
}
