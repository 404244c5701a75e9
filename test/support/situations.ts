import { NodeConfigState } from '../../agent/status/node-config-state.ts';
import { source } from './builders.ts';

/** As boot leaves it with nothing assigned. */
export function localSituation(): NodeConfigState {
  return new NodeConfigState({
    used: 'local',
    source: null,
    assigned: null,
    assignedKnown: true,
    lastKnownGood: null,
    error: null,
    effective: { path: '/e', sha256: '', changed: false, usable: true },
  });
}

/** As boot leaves it with `web@1` assigned and active. */
export function assignedSituation(): NodeConfigState {
  return new NodeConfigState({
    used: 'assigned',
    source: source('web@1'),
    assigned: source('web@1'),
    assignedKnown: true,
    lastKnownGood: null,
    error: null,
    effective: { path: '/kubelet.yaml', sha256: 'abc', changed: false, usable: true },
  });
}
