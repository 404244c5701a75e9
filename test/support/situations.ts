import { NodeConfigState } from '../../agent/status/node-config-state.ts';
import { source } from './builders.ts';

const known = { assignedKnown: true, lastKnownGood: null, error: null };

/** As boot leaves it with nothing assigned. */
export function localSituation(): NodeConfigState {
  const effective = { path: '/e', sha256: '', changed: false, usable: true };
  return new NodeConfigState({ ...known, used: 'local', source: null, assigned: null, effective });
}

/** As boot leaves it with `web@1` assigned and active. */
export function assignedSituation(): NodeConfigState {
  const effective = { path: '/kubelet.yaml', sha256: 'abc', changed: false, usable: true };
  return new NodeConfigState({ ...known, used: 'assigned', source: source('web@1'), assigned: source('web@1'), effective });
}
