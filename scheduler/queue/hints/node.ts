import type { NodeSelector, Taint } from 'kubernetes-types/core/v1.js';
import { firstUntolerated, refusingEffects } from '../../../kube/api/placement.ts';
import { nodeAffinity as rejectionForAffinity } from '../../plugins/node-affinity.ts';
import { type PodInfo, type Requests, wholeAmount } from '../../pod/pod-info.ts';
import type { ClusterEvent, Node } from '../../types.ts';
import type { Hint } from '../contract.ts';
import { amountOf, portsConflict } from '../../../kube/api/pod-requests.ts';

/* Plugins that read a single node: its object, and the capacity that its pods leave free. */

const cordon: readonly Taint[] = [{ key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }];

export const nodeName: Hint = ({ nodeName }, event) =>
  event.kind === 'node-added' && (nodeName === '' || nodeName === event.after.metadata.name);

export const nodeUnschedulable: Hint = ({ pod }, event) =>
  nodeNowPasses(
    event,
    ({ spec }) => spec?.unschedulable !== true || firstUntolerated(cordon, pod.spec?.tolerations, refusingEffects) === undefined,
  );

export const taintToleration: Hint = (info, event) => nodeNowPasses(event, (node) => toleratesNode(info, node));

/** @param added - node affinity that the profile adds to each of its pods */
export function nodeAffinity(added: (schedulerName: string) => NodeSelector | undefined): Hint {
  return ({ pod, schedulerName }, event) =>
    nodeNowPasses(event, (node) => rejectionForAffinity(pod.spec ?? {}, added(schedulerName), node) === undefined);
}

export function toleratesNode({ pod }: PodInfo, { spec }: Readonly<Node>): boolean {
  return firstUntolerated(spec?.taints, pod.spec?.tolerations, refusingEffects) === undefined;
}

export const nodePorts: Hint = ({ ports }, event) => {
  if (event.kind === 'node-added') return true;
  return event.kind === 'assigned-pod-deleted' && ports.some((port) => event.before.ports.some((freed) => portsConflict(port, freed)));
};

/** A pod that waits for devices of a DeviceClass can also use a node with a device plugin for the resource. A pod with resource claims cannot. */
export const devicesOnNodes: Hint = ({ pod, requests }, event) => {
  if ('resourceClaims' in (pod.spec ?? {})) return false;
  const has = ({ status }: Readonly<Node>, resource: string): boolean => !['0', undefined].includes(status?.allocatable?.[resource]);
  return nodeNowPasses(event, (node) => [...requests.scalars.keys()].some((resource) => has(node, resource)));
};

/** The hint of a filter that reads only the node's object: a node is added that passes it, or changes so that it passes. */
export function nodePasses(passes: (pod: PodInfo, node: Readonly<Node>) => boolean): Hint {
  return (pod, event) => nodeNowPasses(event, (node) => passes(pod, node));
}

/** Whether a node passes now that did not pass before, or did not exist. */
function nodeNowPasses(event: ClusterEvent, passes: (node: Readonly<Node>) => boolean): boolean {
  if (event.kind === 'node-added') return passes(event.after);
  return event.kind === 'node-updated' && passes(event.after) && !passes(event.before);
}

/** Whether the profile ignores the resource, which an extender handles. */
type Ignores = (schedulerName: string, resource: string) => boolean;

const NO_SLOT = 'Too many pods';
const INSUFFICIENT = 'Insufficient ';

/* Caches: one event is evaluated for many pods, and pods of one template share one Requests object. */
const requestedBy = new WeakMap<Requests, ReadonlyMap<string, number>>();
const allocatable = new WeakMap<Readonly<Node>, ReadonlyMap<string, number>>();

/** Resources that were short, parsed from the reasons of this plugin: `pods`, `cpu`, `example.com/gpu`. */
export function shortIn(reasons: Iterable<string>): Set<string> {
  const short = new Set<string>();
  for (const reason of reasons) {
    if (reason === NO_SLOT) short.add('pods');
    else if (reason.startsWith(INSUFFICIENT)) short.add(reason.slice(INSUFFICIENT.length));
  }
  return short;
}

/**
 * A node has more of a missing resource, or a pod that used some is deleted. Where the missing resources are unknown, every deleted pod helps, since it frees
 * its pod slot.
 */
export function nodeResourcesFit(ignores: Ignores): Hint {
  return ({ requests, schedulerName }, event, short) => {
    const counts = (resource: string) => !ignores(schedulerName, resource);
    switch (event.kind) {
      case 'assigned-pod-deleted':
        return short === undefined || short.has('pods') || frees(event.before.requests, undefined, short);
      case 'assigned-pod-updated':
        return frees(event.before.requests, event.after.requests, short ?? new Set(requested(requests).keys()));
      case 'node-added':
        return fitsEmpty(requests, event.after, counts);
      case 'node-updated':
        return (
          event.changed.has('allocatable') &&
          fitsEmpty(requests, event.after, counts) &&
          ['pods', ...requested(requests).keys()].some((resource) => has(event.after, resource) > has(event.before, resource))
        );
      case 'assigned-pod-added':
      case 'node-deleted':
      case 'namespace-changed':
      case 'storage-changed':
        return false;
    }
  };
}

/** @param after - undefined: the pod was deleted */
function frees(before: Requests, after: Requests | undefined, wanted: ReadonlySet<string>): boolean {
  if (before === after) return false;
  const held = requested(before);
  const holds = after === undefined ? new Map<string, number>() : requested(after);
  for (const resource of wanted) if ((held.get(resource) ?? 0) > (holds.get(resource) ?? 0)) return true;
  return false;
}

function fitsEmpty(requests: Requests, node: Readonly<Node>, counts: (resource: string) => boolean): boolean {
  if (has(node, 'pods') < 1) return false;
  for (const [resource, amount] of requested(requests)) if (amount > has(node, resource) && counts(resource)) return false;
  return true;
}

/** Requested amounts by resource, without zeros. */
function requested(requests: Requests): ReadonlyMap<string, number> {
  const seen = requestedBy.get(requests);
  if (seen !== undefined) return seen;
  const { cpu, memory, ephemeral, scalars } = requests;
  const all = new Map(scalars);
  if (cpu > 0) all.set('cpu', cpu);
  if (memory > 0) all.set('memory', memory);
  if (ephemeral > 0) all.set('ephemeral-storage', ephemeral);
  requestedBy.set(requests, all);
  return all;
}

function has(node: Readonly<Node>, resource: string): number {
  let all = allocatable.get(node);
  if (all === undefined) {
    all = new Map(Object.entries(node.status?.allocatable ?? {}).map(([name, text]) => [name, wholeAmount(amountOf(name, text))]));
    allocatable.set(node, all);
  }
  return all.get(resource) ?? 0;
}
