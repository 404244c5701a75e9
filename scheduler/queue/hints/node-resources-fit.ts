import { amountOf } from '../../../kube/api/pod-requests.ts';
import { whole, type Requests } from '../../pod/requests.ts';
import type { Node } from '../../types.ts';
import type { Hint } from '../contract.ts';

/** Whether a resource is left to somebody else. */
type Ignores = (schedulerName: string, resource: string) => boolean;

const NO_SLOT = 'Too many pods';
const INSUFFICIENT = 'Insufficient ';

/* One event is looked at for many pods, and pods of one template share what they ask for. */
const askedBy = new WeakMap<Requests, ReadonlyMap<string, number>>();
const allocatable = new WeakMap<Readonly<Node>, ReadonlyMap<string, number>>();

/** What was short, read from the reasons of this plugin: `pods`, `cpu`, `example.com/gpu`. */
export function shortIn(reasons: Iterable<string>): Set<string> {
  const short = new Set<string>();
  for (const reason of reasons) {
    if (reason === NO_SLOT) short.add('pods');
    else if (reason.startsWith(INSUFFICIENT)) short.add(reason.slice(INSUFFICIENT.length));
  }
  return short;
}

/**
 * Room is free again, or more of it: any of what was short where that is known. Where it is not, a pod that goes always helps, as it leaves its place
 * among the pods of the node.
 */
export function nodeResourcesFit(ignores: Ignores): Hint {
  return ({ requests, schedulerName }, event, short) => {
    const counts = (resource: string) => !ignores(schedulerName, resource);
    switch (event.kind) {
      case 'assigned-pod-deleted':
        return short === undefined || short.has('pods') || frees(event.before.requests, undefined, short);
      case 'assigned-pod-updated':
        return frees(event.before.requests, event.after.requests, short ?? new Set(asked(requests).keys()));
      case 'node-added':
        return fitsEmpty(requests, event.after, counts);
      case 'node-updated':
        return (
          event.changed.has('allocatable') &&
          fitsEmpty(requests, event.after, counts) &&
          ['pods', ...asked(requests).keys()].some((resource) => has(event.after, resource) > has(event.before, resource))
        );
      case 'assigned-pod-added':
      case 'node-deleted':
      case 'namespace-changed':
      case 'storage-changed':
        return false;
    }
  };
}

/** @param after - undefined: nothing is held any more */
function frees(before: Requests, after: Requests | undefined, wanted: ReadonlySet<string>): boolean {
  if (before === after) return false;
  const held = asked(before);
  const holds = after === undefined ? new Map<string, number>() : asked(after);
  for (const resource of wanted) if ((held.get(resource) ?? 0) > (holds.get(resource) ?? 0)) return true;
  return false;
}

function fitsEmpty(requests: Requests, node: Readonly<Node>, counts: (resource: string) => boolean): boolean {
  if (has(node, 'pods') < 1) return false;
  for (const [resource, amount] of asked(requests)) if (amount > has(node, resource) && counts(resource)) return false;
  return true;
}

/** What is asked for, nothing of 0. */
function asked(requests: Requests): ReadonlyMap<string, number> {
  const seen = askedBy.get(requests);
  if (seen !== undefined) return seen;
  const { cpu, memory, ephemeral, scalars } = requests;
  const all = new Map(scalars);
  if (cpu > 0) all.set('cpu', cpu);
  if (memory > 0) all.set('memory', memory);
  if (ephemeral > 0) all.set('ephemeral-storage', ephemeral);
  askedBy.set(requests, all);
  return all;
}

function has(node: Readonly<Node>, resource: string): number {
  let all = allocatable.get(node);
  if (all === undefined) {
    all = new Map(Object.entries(node.status?.allocatable ?? {}).map(([name, text]) => [name, whole(amountOf(name, text))]));
    allocatable.set(node, all);
  }
  return all.get(resource) ?? 0;
}
