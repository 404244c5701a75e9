import { hostileNodes, hostileRest, hostileStorage } from './cluster.ts';
import type { Hostile } from './hostile.ts';
import { hostilePods } from './pods.ts';
import { hostileDaemonSets, hostileOwners, hostileRevisions, hostileStatefulSets } from './sets.ts';

/** All rows, by what is put beside ordinary objects at once where there is no time for one by one. */
export const corpus: Readonly<Record<string, readonly Hostile[]>> = {
  pods: hostilePods,
  StatefulSets: hostileStatefulSets,
  DaemonSets: hostileDaemonSets,
  revisions: hostileRevisions,
  'owners and services': hostileOwners,
  nodes: hostileNodes,
  storage: hostileStorage,
  'all other kinds': hostileRest,
};
