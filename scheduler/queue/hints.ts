import type { NodeSelector } from 'kubernetes-types/core/v1.js';
import type { Rejector } from '../plugins/names.ts';
import type { NamespaceLabels } from '../pod/affinity-terms.ts';
import type { Hint } from './contract.ts';
import { interPodAffinity } from './hints/inter-pod-affinity.ts';
import {
  devicesOnNodes,
  nodeDeclaredFeatures,
  nodePorts,
  nodeAffinity,
  nodeName,
  nodeUnschedulable,
  taintToleration,
} from './hints/node-rules.ts';
import { nodeResourcesFit } from './hints/node-resources-fit.ts';
import { podTopologySpread } from './hints/pod-topology-spread.ts';
import { nodeVolumeLimits, volumeBinding, volumeRestrictions, volumeZone } from './hints/volumes.ts';

export type Hints = ReadonlyMap<Rejector, Hint>;

/** What hints have to know besides the pod and the event. */
export interface HintFacts {
  /** The present state. */
  namespaceLabels: NamespaceLabels;
  /** Whether pods on nodes keep others away from their domain of this topology key. @default they may */
  isAntiKey?(topologyKey: string): boolean;
  /** What a profile asks of every node. @default nothing */
  addedAffinity?(schedulerName: string): NodeSelector | undefined;
  /** Resources that a profile leaves to extenders, and ignores. @default none */
  ignores?(schedulerName: string, resource: string): boolean;
}

const always: Hint = () => true;
const never: Hint = () => false;

/**
 * The queueing hint of each plugin that can reject a pod: whether an event may help the pod. A yes too many costs an attempt; a no too many leaves a pod
 * unschedulable until the flush.
 */
export function createHints(facts: HintFacts): Hints {
  const table = {
    NodeUnschedulable: nodeUnschedulable,
    NodeName: nodeName,
    TaintToleration: taintToleration,
    NodeAffinity: nodeAffinity((schedulerName) => facts.addedAffinity?.(schedulerName)),
    NodePorts: nodePorts,
    NodeResourcesFit: nodeResourcesFit((schedulerName, resource) => facts.ignores?.(schedulerName, resource) ?? false),
    VolumeRestrictions: volumeRestrictions,
    NodeVolumeLimits: nodeVolumeLimits,
    VolumeBinding: volumeBinding,
    VolumeZone: volumeZone,
    PodTopologySpread: podTopologySpread,
    InterPodAffinity: interPodAffinity(facts.namespaceLabels, (key) => facts.isAntiKey?.(key) ?? true),
    NodeDeclaredFeatures: nodeDeclaredFeatures,
    Extender: always,
    SchedulingGates: never, // nothing but the pod's own change opens them
    DynamicResources: devicesOnNodes,
    GangScheduling: never, // the group is never known here
    PodLimits: never, // the pod itself has to become smaller
  } satisfies Record<Rejector, Hint>;
  return new Map(Object.entries(table) as [Rejector, Hint][]);
}
