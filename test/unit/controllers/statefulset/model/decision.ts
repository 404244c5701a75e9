import assert from 'node:assert/strict';
import { plan } from '../../../../../controllers/statefulset/plan.ts';
import { makesRoom, statusOf } from '../../../../../controllers/statefulset/status.ts';
import { factsOf, type Situation } from '../notation.ts';
import { call, pod } from './state.ts';

/** What the controller does about pods as it sees them: a call for each ordinal. @param set - `2 * replicas + template` */
export type Decide = (pods: readonly number[], set: number) => readonly number[];

/** As the controller decides, each question asked once. Its status is looked at too. */
export function decider(options: Pick<Situation, 'parallel' | 'update'>): Decide {
  const known = new Map<string, readonly number[]>();
  return (pods, set) => {
    const key = String.fromCharCode(set, ...pods);
    let calls = known.get(key);
    if (calls === undefined) known.set(key, (calls = decided(pods, set, options)));
    return calls;
  };
}

function decided(pods: readonly number[], set: number, options: Pick<Situation, 'parallel' | 'update'>): number[] {
  const [replicas, template] = [set >> 1, set & 1];
  const facts = factsOf({ ...options, replicas, pods: pods.map((kind, ordinal) => written(kind, ordinal, template)).join(' ') });
  const todo = plan(facts);
  const actions = todo.groups.flat();
  const calls = pods.map((): number => call.none);
  for (const action of actions) {
    if (action.do === 'delete') calls[ordinalOf(action.pod.metadata.name)] = call.delete;
    else if (action.do === 'create')
      calls[action.slot.ordinal] = (action.revision === 'web-new') === (template === 0) ? call.createA : call.createB;
    else throw new Error(`nobody expects ${action.do}`);
  }
  // As many as were deleted may be counted out: any of the calls may fail.
  for (let removed = 0; removed <= actions.filter((action) => makesRoom(facts, action)).length; removed++) {
    const {
      replicas: all,
      readyReplicas: ready = 0,
      currentReplicas: current = 0,
      updatedReplicas: updated = 0,
    } = statusOf(facts, todo, removed);
    assert.ok(
      Math.min(all, ready, current, updated) >= 0 && Math.max(ready, current, updated) <= all,
      'the numbers of the status cannot be',
    );
  }
  return calls;
}

const ordinalOf = (name = ''): number => Number(name.slice(name.lastIndexOf('-') + 1));

function written(kind: number, ordinal: number, template: number): string {
  const isOfA = kind === pod.startingA || kind === pod.readyA;
  const revision = isOfA === (template === 0) ? 'new' : 'old';
  switch (kind) {
    case pod.none:
      return '';
    case pod.failed:
      return `${ordinal}@new#`;
    case pod.going:
      return `${ordinal}@new-`;
    default:
      return `${ordinal}@${revision}${kind === pod.readyA || kind === pod.readyB ? '' : '!'}`;
  }
}
