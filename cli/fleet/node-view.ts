import { type MaybeSource, sourceText } from '../../agent/checkpoint/source.ts';
import { assignedSource, type FleetNode, fleetState, type FleetState } from '../../controllers/fleet/fleet-node.ts';
import type { Column, Paint } from '../output/output.ts';
import type { Millis } from '../../base/clock.ts';
import { span } from '../node/spoken.ts';

/** The contract of `-o json`. */
export function nodeData(node: FleetNode) {
  const { active, lastKnownGood, error, carrier } = node;
  return { node: node.node, state: fleetState(node), assigned: assignedSource(node), active, lastKnownGood, error, carrier };
}

/** The table of `dkc nodes`. */
export const nodeColumns = (now: Millis): Column<FleetNode>[] => [
  { title: 'NODE', value: ({ node }) => node },
  { title: 'STATE', value: (node) => stateText(node, now), paint: (cell, node, paint) => paintOf(fleetState(node), paint)(cell) },
  { title: 'ASSIGNED', value: (node) => assignedText(node) },
  { title: 'ACTIVE', value: (node) => reported(node, node.active) },
  { title: 'LAST KNOWN GOOD', value: (node) => reported(node, node.lastKnownGood) },
  { title: 'READY', value: ({ ready }) => (ready === null ? '' : ready ? 'True' : 'False'), wide: true },
  { title: 'KUBELET', value: ({ kubeletVersion }) => kubeletVersion, wide: true },
  { title: 'DRIFT', value: ({ drift }) => drift ?? '', wide: true },
  { title: 'AGENT', value: ({ agent }) => agent?.version ?? '', wide: true },
  { title: 'CARRIER', value: ({ carrier }) => carrier ?? '', wide: true },
  { title: 'ERROR', value: ({ error }) => error ?? '' },
];

function assignedText(node: FleetNode): string {
  const assigned = assignedSource(node);
  return sourceText(assigned && { ...assigned, uid: assigned.uid ?? '', resourceVersion: assigned.resourceVersion ?? '' });
}

const reported = (node: FleetNode, source: MaybeSource): string => (fleetState(node) === 'no-agent' ? '' : sourceText(source));

function paintOf(state: FleetState, paint: Paint): (text: string) => string {
  switch (state) {
    case 'refused':
    case 'condemned':
    case 'fell-back':
    case 'error':
      return paint.red;
    case 'trusted':
      return paint.green;
    case 'trial':
    case 'pending':
    case 'no-agent':
      return paint.yellow;
    case 'local':
      return (text) => text;
  }
}

/** State for people, with the remaining time of a trial if the agent reports it. */
export function stateText(node: FleetNode, now: Millis): string {
  const state = fleetState(node);
  const left = state === 'trial' ? trialLeft(node, now) : undefined;
  return left === undefined ? state : `${state} (${left} left)`;
}

/** `8m12s`; undefined if the agent does not report it, or the time is over and the agent is about to report the result. */
export function trialLeft({ agent }: FleetNode, now: Millis): string | undefined {
  const endsAt = agent?.trial?.endsAtMs ?? undefined;
  return endsAt === undefined || endsAt - now < 1_000 ? undefined : span(endsAt - now);
}
