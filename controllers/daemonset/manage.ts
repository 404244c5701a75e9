import { HASH_LABEL, type Revision } from '../common/history/contract.ts';
import { templateOf } from '../common/history/revision.ts';
import { noActions, type Creation, type PodActions } from './actions.ts';
import type { SetFacts } from './observe.ts';
import type { NodeState, Work } from './node-state.ts';
import { limitsOf } from './update.ts';
import { nameOf } from './pods.ts';
import type { Summary } from './summary.ts';

/** One pod on each node that should have one, none where none may be, whatever its revision. */
export function manage(facts: SetFacts, states: readonly NodeState[]): PodActions {
  const actions = noActions();
  const revisionFor = newRevisions(facts);
  for (const state of states) {
    const { nodePods, work } = state;
    if (work === undefined) continue;
    const { node } = nodePods;
    if (nodePods.known === undefined) {
      for (const pod of work.remove) actions.deletions.push({ pod, node, reason: 'vanished' });
      continue;
    }
    if (work.create) actions.creations.push({ node, ...revisionFor(state) });
    const { keep } = nodePods.known.decision;
    for (const pod of work.remove) {
      const surplus = facts.rules.surging && pod === state.old ? 'surged' : 'surplus';
      actions.deletions.push({ pod, node, reason: keep ? surplus : 'misplaced' });
    }
    removeEnded(facts, node, work, actions);
    for (const reason of work.suspended ? (nodePods.known.decision.failedPlacement ?? []) : [])
      actions.events.push({ type: 'Warning', reason: 'FailedPlacement', message: `failed to place pod on "${node}": ${reason}` });
  }
  return actions;
}

/** What failed stays for a while, for people to see why, and so that a node that refuses pods is not flooded. */
function removeEnded({ memory, rules }: SetFacts, node: string, { failed, succeeded }: Work, actions: PodActions): void {
  const { namespace = '' } = rules.set.metadata;
  const left = failed.length === 0 ? 0 : memory.backoffMs(node);
  if (left > 0) actions.wakeUps.push({ requeueAfter: left, why: `backoff of the failed pod on node ${node}` });
  else
    for (const pod of failed) {
      const message = `Found failed daemon pod ${namespace}/${nameOf(pod)} on node ${node}, will try to kill it`;
      actions.events.push({ type: 'Warning', reason: 'FailedDaemonPod', message });
      actions.deletions.push({ pod, node, reason: 'failed' });
    }
  for (const pod of succeeded) {
    const message = `Found succeeded daemon pod ${namespace}/${nameOf(pod)} on node ${node}, will try to delete it`;
    actions.events.push({ type: 'Normal', reason: 'SucceededDaemonPod', message });
    actions.deletions.push({ pod, node, reason: 'succeeded' });
  }
}

/**
 * Which revision a missing pod is made of: the present one, but for nodes that are kept at the old one. They get the newest other revision
 * that a pod still has; when none has, there is nothing that could be kept.
 */
function newRevisions(facts: SetFacts): (state: NodeState) => Omit<Creation, 'node'> {
  const { rules, history, summary } = facts;
  const present = { hash: history.hash, template: rules.template, present: true };
  const { optIns, update } = rules;
  const limited = optIns.partition !== undefined || optIns.rolloutNodes !== undefined || optIns.problems.length > 0;
  const kept = limited && update.type === 'RollingUpdate' ? keptRevision(history.old, summary) : undefined;
  if (kept === undefined) return () => present;
  const limits = limitsOf(rules, summary);
  let room = optIns.problems.length > 0 ? 0 : limits.room;
  return (state) => {
    if (!limits.mayUpdate(state) || room <= 0) return kept;
    room -= 1;
    return present;
  };
}

function keptRevision(old: readonly Readonly<Revision>[], { hashes }: Summary): Omit<Creation, 'node'> | undefined {
  for (const revision of old.toReversed()) {
    const hash = revision.metadata.labels?.[HASH_LABEL];
    const template = templateOf(revision);
    if (hash !== undefined && template !== undefined && hashes.has(hash)) return { hash, template, present: false };
  }
  return undefined;
}
