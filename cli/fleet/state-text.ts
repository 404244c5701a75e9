import { fleetState, type FleetNode } from '../../controllers/fleet/fleet-node.ts';
import { span } from '../node/spoken.ts';
import type { Millis } from '../../base/clock.ts';

/** For people: the state, with the time that a trial has left where the agent tells it. */
export function stateText(node: FleetNode, now: Millis): string {
  const state = fleetState(node);
  const left = state === 'trial' ? trialLeft(node, now) : undefined;
  return left === undefined ? state : `${state} (${left} left)`;
}

/** `8m12s`; undefined where the agent does not tell, or the time is over and its verdict on the way. */
export function trialLeft({ agent }: FleetNode, now: Millis): string | undefined {
  const endsAt = agent?.trial?.endsAtMs ?? undefined;
  return endsAt === undefined || endsAt - now < 1_000 ? undefined : span(endsAt - now);
}
