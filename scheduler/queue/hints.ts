import type { NodeSelector } from 'kubernetes-types/core/v1.js';
import { nodeDeclaredFeatures, requiredFeatures } from '../plugins/node-declared-features.ts';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { NamespaceLabels } from '../pod/selectors.ts';
import type { Hint } from './contract.ts';
import { interPodAffinity, podTopologySpread } from './hints/topology.ts';
import {
  devicesOnNodes,
  nodeAffinity,
  nodeName,
  nodePasses,
  nodePorts,
  nodeResourcesFit,
  nodeUnschedulable,
  taintToleration,
} from './hints/node.ts';
import { nodeVolumeLimits, volumeBinding, volumeRestrictions, volumeZone } from './hints/volumes.ts';

export type Hints = ReadonlyMap<Rejector, Hint>;

/** What hints read besides the pod and the event. */
export interface HintFacts {
  /** Reads the present state. */
  namespaceLabels: NamespaceLabels;
  /** Whether assigned pods have required anti-affinity by this topology key. @default true */
  isAntiKey?(topologyKey: string): boolean;
  /** Node affinity that the profile adds to each of its pods. @default none */
  addedAffinity?(schedulerName: string): NodeSelector | undefined;
  /** Whether the profile ignores the resource, which an extender handles. @default false */
  ignores?(schedulerName: string, resource: string): boolean;
  /** Whether the present state of the pod's claims excludes every node. @default false */
  isRefusedEverywhere?(pod: PodInfo): boolean;
}

/** When a pod that a plugin rejected is requeued. */
interface Retry {
  /** Whether an event may help the pod. A false positive costs an attempt; a false negative leaves the pod unschedulable until the flush. */
  readonly hint: (facts: HintFacts) => Hint;
  /** The same as text for people, which continues "retried when". */
  readonly when: string;
}

const always: Hint = () => true;
const never: Hint = () => false;

const retries: Readonly<Record<Rejector, Retry>> = {
  NodeUnschedulable: {
    hint: () => nodeUnschedulable,
    when: 'a node is added or uncordoned',
  },
  NodeName: {
    hint: () => nodeName,
    when: 'a node of that name is added',
  },
  TaintToleration: {
    hint: () => taintToleration,
    when: 'a node is added or loses a taint, or the pod gets a toleration',
  },
  NodeAffinity: {
    hint: (facts) => nodeAffinity((schedulerName) => facts.addedAffinity?.(schedulerName)),
    when: 'a node that matches its node selector and affinity is added, or gets such labels',
  },
  NodePorts: {
    hint: () => nodePorts,
    when: 'a pod that uses one of the host ports is deleted, or a node is added',
  },
  NodeResourcesFit: {
    hint: (facts) => nodeResourcesFit((schedulerName, resource) => facts.ignores?.(schedulerName, resource) ?? false),
    when: 'a pod that uses the missing resource is deleted or shrinks; a node is added or gets more of it; the pod itself requests less',
  },
  VolumeRestrictions: {
    hint: () => volumeRestrictions,
    when: 'a pod that shares its disk or claim is deleted, or one of its claims changes',
  },
  NodeVolumeLimits: {
    hint: () => nodeVolumeLimits,
    when: 'a pod with volumes is deleted, a volume is detached, a node is added, or a node gets the driver or allows more volumes',
  },
  VolumeBinding: {
    hint: (facts) => volumeBinding((pod) => facts.isRefusedEverywhere?.(pod) ?? false),
    when: 'a volume, claim, storage class or storage capacity is added or changes; a node is added or its labels change',
  },
  VolumeZone: {
    hint: () => volumeZone,
    when: 'a node is added or its zone changes; one of its claims or volumes changes',
  },
  PodTopologySpread: {
    hint: () => podTopologySpread,
    when: 'pods that its constraints select are added, deleted or relabeled; nodes are added, deleted or change topology domain',
  },
  InterPodAffinity: {
    hint: (facts) => interPodAffinity(facts.namespaceLabels, (key) => facts.isAntiKey?.(key) ?? true),
    when: 'a pod that its affinity selects is added, or one that keeps it away by anti-affinity is deleted; nodes are added, deleted or relabeled',
  },
  NodeDeclaredFeatures: {
    hint: () => nodePasses(({ pod }, node) => nodeDeclaredFeatures(requiredFeatures(pod.spec), node) === undefined),
    when: 'a node that declares the required features is added, or declares them',
  },
  Extender: {
    hint: () => always,
    when: 'anything in the cluster changes',
  },
  SchedulingGates: {
    // Only an update of the pod itself removes its gates.
    hint: () => never,
    when: 'its last scheduling gate is removed',
  },
  DynamicResources: {
    hint: () => devicesOnNodes,
    when: 'a node gets the resource from a device plugin; otherwise never: create the pod again for a scheduler with dynamic resource allocation',
  },
  GangScheduling: {
    // This scheduler does not know pod groups, so no event helps.
    hint: () => never,
    when: 'never: create the pod again for a scheduler that schedules pods of a group together',
  },
  PodLimits: {
    // The pod itself has to become smaller.
    hint: () => never,
    when: 'never: create the pod again within the limits that its event names',
  },
};

/** The queueing hint of each plugin that can reject a pod. */
export function createHints(facts: HintFacts): Hints {
  return new Map(Object.entries(retries).map(([rejector, { hint }]) => [rejector as Rejector, hint(facts)]));
}

/** What requeues a pod that these plugins rejected, as text for people. */
export function retryConditionsOf(rejectedBy: Iterable<Rejector>): string[] {
  return [...rejectedBy].toSorted().map((rejector) => retries[rejector].when);
}
