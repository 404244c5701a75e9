import { resourceName } from '../../kube/api/object.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';

/** Something that this process has to be allowed. */
export interface Right {
  verb: string;
  group: string;
  resource: string;
  subresource?: string;
  /** '' = in all of them, or none, for kinds without. */
  namespace: string;
  /** Only on the object of this name. */
  name?: string;
  /** Without it nothing works; or only events, or what some servers alone ask for. */
  vital: boolean;
}

/** What it takes to lead. */
export function leaseRights(leaderElect: false | LeaseOptions): Right[] {
  if (leaderElect === false) return [];
  const rights = rightsIn(leaderElect.namespace);
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  return [...rights('create', leases), ...rights('get update', { ...leases, name: leaderElect.name })];
}

/** Vital ones, `list watch`, in a namespace; '' = in all. */
export const rightsIn =
  (namespace: string) =>
  (verbs: string, of: Omit<Right, 'verb' | 'namespace' | 'vital'> & Partial<Right>): Right[] =>
    verbs.split(' ').map((verb) => ({ verb, namespace, vital: true, ...of }));

/** Each once; vital where anybody asks for it so. */
export function distinctRights(rights: readonly Right[]): Right[] {
  return [...Map.groupBy(rights, keyOf).values()].flatMap((same) => {
    const [first] = same;
    return first === undefined ? [] : [{ ...first, vital: same.some(({ vital }) => vital) }];
  });
}

const keyOf = ({ verb, group, resource, subresource = '', namespace, name = '' }: Right): string =>
  [verb, group, resource, subresource, namespace, name].join('/');

/** As a person would grant them, one kind after the other: `list, watch nodes; create pods in namespace a`. */
export function rightsText(rights: readonly Right[]): string {
  const byKind = Map.groupBy(rights, (right) => {
    const kind = resourceName(right) + (right.subresource === undefined ? '' : `/${right.subresource}`);
    const which = right.name === undefined ? '' : ` ${right.name}`;
    return `${kind}${which}${right.namespace === '' ? '' : ` in namespace ${right.namespace}`}`;
  });
  return [...byKind].map(([kind, of]) => `${of.map(({ verb }) => verb).join(', ')} ${kind}`).join('; ');
}
