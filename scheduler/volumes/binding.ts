import type { TopologySelectorTerm } from 'kubernetes-types/core/v1.js';
import { matchesNodeAffinity } from '../../kube/api/node-selector.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Rejection } from '../plugins/names.ts';
import { readSelector } from '../pod/selectors.ts';
import type { Claim, CsiCapacity, Node, StorageClass, Volume } from '../types.ts';
import { isProvisioned, requestedSize, sizeOf } from './claims.ts';
import type { BoundClaim, DelayedClaim, StorageView, VolumeDecision, VolumeNeeds, VolumeNode } from './contract.ts';

const AFFINITY = 'node(s) had volume node affinity conflict';
const NO_VOLUMES = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'node(s) did not have enough free storage';
const VOLUME_GONE = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

type Labels = Readonly<Record<string, string>>;
/** How the claims without volumes are served on a node, or the reason why they are not. */
type Served = { decision: VolumeDecision; refused?: undefined } | { refused: string };

const nothing: VolumeDecision = { reserve: [], provision: [] };
const noLabels: Labels = {};

/** Bound volumes must be usable on the node; for unbound claims a volume must be found, or one can be provisioned there. Both reasons are returned. */
export function filterBinding(needs: VolumeNeeds, { node }: VolumeNode, view: StorageView): Rejection | undefined {
  const bound = boundProblem(needs.bound, labelsOf(node));
  const { refused } = serve(needs.delayed, node, view);
  if (bound === undefined && refused === undefined) return undefined;
  const told = [bound, refused].filter((reason) => reason !== undefined);
  // A missing volume comes last among the reasons, as in kube-scheduler.
  return { plugin: 'VolumeBinding', resolvable: false, reasons: bound === VOLUME_GONE ? told.toReversed() : told };
}

/** For a node that passed: what to do for the claims that have no volume yet. */
export function decideBinding(needs: VolumeNeeds, { node }: VolumeNode, view: StorageView): VolumeDecision {
  const served = serve(needs.delayed, node, view);
  return served.refused === undefined ? served.decision : nothing;
}

/** Whether the volume can be used on a node with these labels. Names of nodes do not count, as the kubelet does not read them either. */
export function isReachable({ spec }: Readonly<Volume>, labels: Labels): boolean {
  return matchesNodeAffinity(spec?.nodeAffinity?.required, { labels });
}

function boundProblem(bound: readonly BoundClaim[], labels: Labels): string | undefined {
  for (const { volume } of bound) {
    if (volume === undefined) return VOLUME_GONE;
    if (!isReachable(volume, labels)) return AFFINITY;
  }
  return undefined;
}

function serve(delayed: readonly DelayedClaim[], node: Readonly<Node>, view: StorageView): Served {
  if (delayed.length === 0) return { decision: nothing };
  const { name = '' } = node.metadata;
  const labels = labelsOf(node);
  // Where a volume is being made already, there is nothing to choose.
  if (delayed.some(({ selectedNode }) => selectedNode !== undefined && selectedNode !== name)) return { refused: NO_VOLUMES };
  const reserve: { volume: Readonly<Volume>; claim: Readonly<Claim> }[] = [];
  const taken = new Set<Readonly<Volume>>();
  const toMake: DelayedClaim[] = delayed.filter(({ selectedNode }) => selectedNode !== undefined);
  for (const wanted of delayed) {
    if (wanted.selectedNode !== undefined) continue;
    const volume = firstOf(wanted, labels, taken);
    if (volume !== undefined) {
      taken.add(volume);
      reserve.push({ volume, claim: wanted.claim });
    } else if (wanted.candidates.reserved === undefined) toMake.push(wanted);
    // Whoever binds claims will give it the reserved one, also if another were made.
    else return { refused: NO_VOLUMES };
  }
  for (const { claim, class: storage } of toMake) {
    if (!isProvisioned(storage) || !isAllowed(storage.allowedTopologies, labels)) return { refused: NO_VOLUMES };
    if (!hasSpace(claim, storage, labels, view)) return { refused: NO_SPACE };
  }
  return { decision: { reserve, provision: toMake.map(({ claim }) => ({ claim, node: name })) } };
}

function firstOf({ candidates }: DelayedClaim, labels: Labels, taken: ReadonlySet<Readonly<Volume>>): Readonly<Volume> | undefined {
  for (const volume of candidates.near(labels)) if (!taken.has(volume) && isReachable(volume, labels)) return volume;
  return undefined;
}

/** Whether volumes of a class may be provisioned for a node with these labels (allowedTopologies): all requirements of one of the terms must match. */
function isAllowed(terms: readonly TopologySelectorTerm[] | undefined, labels: Labels): boolean {
  if (terms === undefined || terms.length === 0) return true;
  return terms.some(({ matchLabelExpressions: all = [] }) => {
    return all.length > 0 && all.every(({ key, values }) => Object.hasOwn(labels, key) && values.includes(labels[key] ?? ''));
  });
}

/** Drivers that tell how much they have left must have enough of it near the node, in one piece. The others are taken at their word. */
function hasSpace(claim: Readonly<Claim>, storage: Readonly<StorageClass>, labels: Labels, view: StorageView): boolean {
  const wanted = requestedSize(claim);
  if (wanted === undefined || view.csiDriver(storage.provisioner)?.spec?.storageCapacity !== true) return true;
  return view.capacities(storage.metadata.name ?? '').some((capacity) => isEnough(capacity, wanted) && isNear(capacity, labels));
}

function isEnough({ capacity, maximumVolumeSize }: Readonly<CsiCapacity>, wanted: bigint): boolean {
  const most = sizeOf(maximumVolumeSize ?? capacity);
  return most !== undefined && most >= wanted;
}

function isNear({ nodeTopology }: Readonly<CsiCapacity>, labels: Labels): boolean {
  const selector = nodeTopology ? readSelector(nodeTopology) : undefined;
  return selector !== undefined && matchesLabels(selector, labels);
}

function labelsOf({ metadata }: Readonly<Node>): Labels {
  return metadata.labels ?? noLabels;
}
