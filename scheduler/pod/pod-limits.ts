import type { Affinity, NodeSelectorTerm, PodAffinityTerm, PodSpec, TopologySpreadConstraint } from 'kubernetes-types/core/v1.js';
import type { Rejector } from '../plugins/names.ts';
import type { PodInfo } from './pod-info.ts';

/** How many terms of pod affinity and anti-affinity a pod may have, required and preferred together. */
export const MAX_TERMS = 200;
/** How many topology spread constraints a pod may have: each has its own counts. */
export const MAX_CONSTRAINTS = 50;
/** How many namespaces, labels, expressions and values all of these may have together. */
export const MAX_RULE_PARTS = 2_000;
/** How many labels of its node selector, expressions and fields of node affinity a pod may have. */
export const MAX_NODE_REQUIREMENTS = 500;
export const MAX_NODE_VALUES = 20_000;
export const MAX_TOLERATIONS = 500;
export const MAX_CONTAINERS = 500;
/** Different resources that its containers request. */
export const MAX_RESOURCES = 100;
export const MAX_HOST_PORTS = 500;
/** Volumes that are claims, or disks that pods share. */
export const MAX_CLAIMS = 200;

/** Cached, because each attempt reads it. */
const known = new WeakMap<Readonly<PodSpec>, { readonly why: string | undefined }>();

/** No list of at most this length can exceed a limit. */
const SMALL = 8;

type Spec = Readonly<PodSpec>;
type Resources = PodSpec['containers'][number]['resources'];
type SelectorObject = PodAffinityTerm['labelSelector'];

/**
 * Why a pod is never scheduled: it exceeds a limit on the cost of an attempt. Everything that an attempt repeats for each node, or for each pod, is counted
 * here. The limits are far above real pods, and far below what a server stores. @returns text for users; undefined: no limit is exceeded
 */
export function excessOf(spec: Readonly<PodSpec> | undefined): string | undefined {
  if (spec === undefined || isSmall(spec)) return undefined;
  let excess = known.get(spec);
  if (excess === undefined) known.set(spec, (excess = { why: excessIn(spec) }));
  return excess.why;
}

/** True for nearly all pods. Called in each attempt, so it allocates nothing. */
function isSmall({
  affinity,
  topologySpreadConstraints,
  nodeSelector,
  overhead,
  tolerations,
  volumes,
  containers,
  initContainers,
}: Spec): boolean {
  if (affinity || topologySpreadConstraints?.length || nodeSelector || overhead || initContainers?.length) return false;
  if ((tolerations?.length ?? 0) > MAX_TOLERATIONS || (volumes?.length ?? 0) > SMALL || containers.length > SMALL) return false;
  for (const { ports, resources } of containers) {
    if ((ports?.length ?? 0) > SMALL) return false;
    let names = 0;
    for (const _ in resources?.requests) names += 1;
    if (names > SMALL) return false;
  }
  return true;
}

function excessIn(spec: Readonly<PodSpec>): string | undefined {
  const { affinity, topologySpreadConstraints: constraints = [] } = spec;
  const terms = podTermsOf(affinity);
  const node = nodeTermsOf(affinity);
  const selected = Object.keys(spec.nodeSelector ?? {}).length;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const counts: [count: number, max: number, what: string][] = [
    [terms.length, MAX_TERMS, 'terms of pod affinity and anti-affinity'],
    [constraints.length, MAX_CONSTRAINTS, 'topology spread constraints'],
    [sum(terms, partsOfTerm) + sum(constraints, partsOfConstraint), MAX_RULE_PARTS, 'namespaces, labels and values in their selectors'],
    [selected + sum(node, (term) => 1 + requirementsOf(term).length), MAX_NODE_REQUIREMENTS, 'requirements of node selector and affinity'],
    [sum(node, (term) => sum(requirementsOf(term), ({ values }) => values?.length ?? 0)), MAX_NODE_VALUES, 'values of node affinity'],
    [spec.tolerations?.length ?? 0, MAX_TOLERATIONS, 'tolerations'],
    [containers.length, MAX_CONTAINERS, 'containers'],
    [resourcesOf(spec, containers).size, MAX_RESOURCES, 'different resources'],
    [sum(containers, ({ ports }) => ports?.length ?? 0), MAX_HOST_PORTS, 'container ports'],
    [sum(spec.volumes ?? [], claimsOf), MAX_CLAIMS, 'volumes that are claims or shared disks'],
  ];
  const over = counts.find(([count, max]) => count > max);
  return over && `pod has ${over[0]} ${over[2]}, more than the ${over[1]} that this scheduler supports`;
}

/** How much a term costs to compare with a pod. */
export function partsOfTerm({ labelSelector, namespaceSelector, namespaces }: PodAffinityTerm): number {
  return (namespaces?.length ?? 0) + partsOfSelector(labelSelector) + partsOfSelector(namespaceSelector);
}

function partsOfConstraint(constraint: TopologySpreadConstraint & { matchLabelKeys?: readonly string[] }): number {
  return partsOfSelector(constraint.labelSelector) + (constraint.matchLabelKeys?.length ?? 0);
}

function partsOfSelector(selector: SelectorObject): number {
  return Object.keys(selector?.matchLabels ?? {}).length + sum(selector?.matchExpressions ?? [], ({ values }) => 1 + (values?.length ?? 0));
}

function podTermsOf(affinity: Affinity | undefined): PodAffinityTerm[] {
  const { podAffinity, podAntiAffinity } = affinity ?? {};
  return [podAntiAffinity, podAffinity].flatMap((one) => [
    ...(one?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
    ...(one?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ podAffinityTerm }) => podAffinityTerm),
  ]);
}

function nodeTermsOf(affinity: Affinity | undefined): NodeSelectorTerm[] {
  const { requiredDuringSchedulingIgnoredDuringExecution: required, preferredDuringSchedulingIgnoredDuringExecution: preferred } =
    affinity?.nodeAffinity ?? {};
  return [...(required?.nodeSelectorTerms ?? []), ...(preferred ?? []).map(({ preference }) => preference)];
}

function resourcesOf({ overhead, ...spec }: Readonly<PodSpec> & { resources?: Resources }, containers: PodSpec['containers']): Set<string> {
  const names = new Set(Object.keys({ ...overhead, ...spec.resources?.requests }));
  for (const { resources } of containers) for (const name of Object.keys(resources?.requests ?? {})) names.add(name);
  return names;
}

function requirementsOf({ matchExpressions, matchFields }: NodeSelectorTerm): NonNullable<NodeSelectorTerm['matchExpressions']> {
  return [...(matchExpressions ?? []), ...(matchFields ?? [])];
}

function claimsOf({
  persistentVolumeClaim,
  ephemeral,
  gcePersistentDisk,
  awsElasticBlockStore,
  azureDisk,
  cinder,
  portworxVolume,
  iscsi,
  rbd,
}: NonNullable<PodSpec['volumes']>[number]): number {
  if (rbd) return Math.max(1, rbd.monitors.length);
  const isDisk = gcePersistentDisk || awsElasticBlockStore || azureDisk || cinder || portworxVolume || iscsi;
  return persistentVolumeClaim || ephemeral || isDisk ? 1 : 0;
}

function sum<T>(list: readonly T[], of: (one: T) => number): number {
  let total = 0;
  for (const one of list) total += of(one);
  return total;
}

/** Reads from the cluster whether a DeviceClass provides a resource. */
export interface Devices {
  /** The DeviceClass that provides an extended resource (`spec.extendedResourceName`); undefined: none does. */
  classOf(resource: string): string | undefined;
  /** Whether any node has this resource from a device plugin. */
  isOnNodes(resource: string): boolean;
}

/** Resources that are requests for one device of a class: `deviceclass.resource.kubernetes.io/CLASS`. */
const IMPLICIT = 'deviceclass.resource.kubernetes.io/';

const ANOTHER = 'which this scheduler does not support: give the pod a spec.schedulerName of a scheduler that does, such as kube-scheduler';

/**
 * Why a pod needs another scheduler: it uses dynamic resource allocation, or belongs to a group that is scheduled together. An extended resource from a device
 * plugin is supported, even if a DeviceClass provides it as well.
 * @returns the plugin of kube-scheduler that the pod needs, and the reason; undefined: none
 */
export function unsupportedIn(pod: PodInfo, devices: Devices): { by: Rejector; why: string } | undefined {
  const { resourceClaims, schedulingGroup, workloadRef } = (pod.pod.spec ?? {}) as {
    resourceClaims?: readonly unknown[];
    /** Since 1.36; `workloadRef` in 1.35. */
    schedulingGroup?: object;
    workloadRef?: object;
  };
  if (resourceClaims !== undefined && resourceClaims.length > 0)
    return { by: 'DynamicResources', why: `pod has resourceClaims, ${ANOTHER}` };
  const group = schedulingGroup ? 'schedulingGroup' : workloadRef ? 'workloadRef' : undefined;
  if (group !== undefined) return { by: 'GangScheduling', why: `pod has a ${group}, ${ANOTHER}` };
  for (const resource of pod.requests.scalars.keys()) {
    const device = resource.startsWith(IMPLICIT) ? resource.slice(IMPLICIT.length) : devices.classOf(resource);
    if (device !== undefined && !devices.isOnNodes(resource))
      return { by: 'DynamicResources', why: `pod requests ${resource} of DeviceClass ${device}, ${ANOTHER}` };
  }
  return undefined;
}
