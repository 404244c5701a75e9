import type { TopologySelectorTerm } from 'kubernetes-types/core/v1.js';
import { matchesNodeAffinity } from '../../kube/api/placement.ts';
import { matchesLabels } from '../../kube/api/selector.ts';
import type { Rejection } from '../plugins/names.ts';
import { readSelector } from '../pod/selectors.ts';
import type { Claim, CsiCapacity, Node, PersistentVolume, StorageClass } from '../types.ts';
import {
  BOUND_BY_CONTROLLER,
  claimRefTo,
  isFullyBound,
  isProvisioned,
  isReservedFor,
  largestOf,
  requestedSize,
  SELECTED_NODE,
  selectedNodeOf,
} from './claims.ts';
import type { BoundClaim, DelayedClaim, StorageView, VolumeDecision, VolumeNeeds, NodeInfo } from './contract.ts';
import { isOlder } from '../../kube/cache/change.ts';

const AFFINITY = 'node(s) had volume node affinity conflict';
const NO_VOLUMES = "node(s) didn't find available persistent volumes to bind";
const NO_SPACE = 'node(s) did not have enough free storage';
const VOLUME_GONE = 'node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)';

type Labels = Readonly<Record<string, string>>;
/** How the claims without volumes are served on a node, or the reason why they are not. */
type Served = { decision: VolumeDecision; provisioned: readonly Provisioned[]; refused?: undefined } | { refused: string };

/** A claim to provision, with the CSIStorageCapacity for the node if its driver publishes capacity. */
export interface Provisioned {
  readonly claim: Readonly<Claim>;
  readonly capacity: Readonly<CsiCapacity> | undefined;
}

const nothing: VolumeDecision = { reserve: [], provision: [] };
const noLabels: Labels = {};

/** Bound volumes must be usable on the node; for unbound claims a volume must be found, or one can be provisioned there. Both reasons are returned. */
export function filterBinding(needs: VolumeNeeds, { node }: NodeInfo, view: StorageView): Rejection | undefined {
  const bound = boundProblem(needs.bound, labelsOf(node));
  const { refused } = serve(needs.delayed, node, view);
  if (bound === undefined && refused === undefined) return undefined;
  const told = [bound, refused].filter((reason) => reason !== undefined);
  // A missing volume comes last among the reasons, as in kube-scheduler.
  return { plugin: 'VolumeBinding', resolvable: false, reasons: bound === VOLUME_GONE ? told.toReversed() : told };
}

/** For a node that passed: what to do for the claims that have no volume yet. */
export function decideBinding(needs: VolumeNeeds, { node }: NodeInfo, view: StorageView): VolumeDecision {
  const served = serve(needs.delayed, node, view);
  return served.refused === undefined ? served.decision : nothing;
}

/** Whether the volume can be used on a node with these labels. `matchFields` (names of nodes) are not read, as in kube-scheduler. */
function isReachable({ spec }: Readonly<PersistentVolume>, labels: Labels): boolean {
  return matchesNodeAffinity(spec?.nodeAffinity?.required, { labels });
}

function boundProblem(bound: readonly BoundClaim[], labels: Labels): string | undefined {
  for (const { volume } of bound) {
    if (volume === undefined) return VOLUME_GONE;
    if (!isReachable(volume, labels)) return AFFINITY;
  }
  return undefined;
}

/** Selects or provisions a volume for each unbound claim on a node. */
export function serve(delayed: readonly DelayedClaim[], node: Readonly<Node>, view: StorageView): Served {
  if (delayed.length === 0) return { decision: nothing, provisioned: [] };
  const { name = '' } = node.metadata;
  const labels = labelsOf(node);
  // A volume that is being provisioned for another node leaves no choice.
  if (delayed.some(({ selectedNode }) => selectedNode !== undefined && selectedNode !== name)) return { refused: NO_VOLUMES };
  const reserve: { volume: Readonly<PersistentVolume>; claim: Readonly<Claim> }[] = [];
  const taken = new Set<Readonly<PersistentVolume>>();
  const toMake: DelayedClaim[] = delayed.filter(({ selectedNode }) => selectedNode !== undefined);
  for (const wanted of delayed) {
    if (wanted.selectedNode !== undefined) continue;
    const volume = firstOf(wanted, labels, taken);
    if (volume !== undefined) {
      taken.add(volume);
      reserve.push({ volume, claim: wanted.claim });
    } else if (wanted.candidates.reserved === undefined) toMake.push(wanted);
    // The PV controller will bind the claim to the reserved volume, even if another one were provisioned.
    else return { refused: NO_VOLUMES };
  }
  const provisioned: Provisioned[] = [];
  for (const { claim, class: storage } of toMake) {
    if (!isProvisioned(storage) || !isAllowed(storage.allowedTopologies, labels)) return { refused: NO_VOLUMES };
    const space = spaceFor(claim, storage, labels, view);
    if (space === 'none') return { refused: NO_SPACE };
    provisioned.push({ claim, capacity: space === 'untold' ? undefined : space });
  }
  return { decision: { reserve, provision: provisioned.map(({ claim }) => ({ claim, node: name })) }, provisioned };
}

function firstOf(
  { candidates }: DelayedClaim,
  labels: Labels,
  taken: ReadonlySet<Readonly<PersistentVolume>>,
): Readonly<PersistentVolume> | undefined {
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

/** A driver that publishes its capacity must have enough for the node in one CSIStorageCapacity. Other drivers are assumed to have enough. */
function spaceFor(
  claim: Readonly<Claim>,
  storage: Readonly<StorageClass>,
  labels: Labels,
  view: StorageView,
): Readonly<CsiCapacity> | 'untold' | 'none' {
  const wanted = requestedSize(claim);
  if (wanted === undefined || view.csiDriver(storage.provisioner)?.spec?.storageCapacity !== true) return 'untold';
  return view.capacities(storage.metadata.name ?? '').find((capacity) => isEnough(capacity, wanted) && isNear(capacity, labels)) ?? 'none';
}

function isEnough(capacity: Readonly<CsiCapacity>, wanted: bigint): boolean {
  const most = largestOf(capacity);
  return most !== undefined && most >= wanted;
}

function isNear({ nodeTopology }: Readonly<CsiCapacity>, labels: Labels): boolean {
  const selector = nodeTopology ? readSelector(nodeTopology) : undefined;
  return selector !== undefined && matchesLabels(selector, labels);
}

function labelsOf({ metadata }: Readonly<Node>): Labels {
  return metadata.labels ?? noLabels;
}

const GONE = 'it is gone';
const RETRIED = 'the pod will be retried';

/** What to write next so that a decision comes true; `why` finishes the sentence "Cannot ...:". */
export type Step = { do: 'nothing' } | { do: 'patch'; patch: object } | { do: 'give-up'; why: string };

export type Progress = { is: 'bound' } | { is: 'waiting'; why: string } | { is: 'impossible'; why: string };

/** @param volume - present state: the patch fails if it has changed since. @param claim - present state. @param wanted - the claim of the decision */
export function planReservation(
  volume: Readonly<PersistentVolume> | undefined,
  claim: Readonly<Claim> | undefined,
  wanted: Readonly<Claim>,
): Step {
  const problem = claimProblem(claim, wanted);
  if (claim === undefined || problem !== undefined) return giveUp(`claim ${pathOf(wanted)}: ${problem ?? GONE}`);
  // The claim got a volume elsewhere; {@link progressOf} checks whether the node can use it.
  if ((claim.spec?.volumeName ?? '') !== '') return { do: 'nothing' };
  if (volume === undefined) return giveUp(GONE);
  const ref = volume.spec?.claimRef;
  if (ref && !isReservedFor(volume, claim)) return giveUp(`it is already reserved for claim ${ref.namespace ?? ''}/${ref.name ?? ''}`);
  if (ref?.uid) return { do: 'nothing' };
  const { resourceVersion, uid } = volume.metadata;
  // A volume that a user reserved stays reserved when the claim is deleted; a volume chosen here is released.
  const chosen = ref ? {} : { annotations: { [BOUND_BY_CONTROLLER]: 'yes' } };
  return { do: 'patch', patch: { metadata: { resourceVersion, uid, ...chosen }, spec: { claimRef: claimRefTo(claim) } } };
}

/** @param claim - present state: the patch fails if it has changed since. @param wanted - the claim of the decision */
export function planProvision(claim: Readonly<Claim> | undefined, wanted: Readonly<Claim>, node: string): Step {
  const problem = claimProblem(claim, wanted);
  if (claim === undefined || problem !== undefined) return giveUp(problem ?? GONE);
  const selected = selectedNodeOf(claim);
  if (selected === node || (claim.spec?.volumeName ?? '') !== '') return { do: 'nothing' };
  if (selected !== undefined) return giveUp(`its volume is being provisioned for node ${selected}`);
  const { resourceVersion, uid } = claim.metadata;
  return { do: 'patch', patch: { metadata: { resourceVersion, uid, annotations: { [SELECTED_NODE]: node } } } };
}

interface Seen {
  /** undefined: deleted. */
  node: Readonly<Node> | undefined;
  claim(wanted: Readonly<Claim>): Readonly<Claim> | undefined;
  volume(name: string): Readonly<PersistentVolume> | undefined;
  /** resourceVersion after this scheduler's write; undefined: nothing was written. Older states of the object are ignored. */
  written(object: Readonly<Claim> | Readonly<PersistentVolume>): string | undefined;
}

/** Progress of a decision: the first of its claims that is not bound, and why. */
export function progressOf({ reserve, provision }: VolumeDecision, seen: Seen): Progress {
  if (seen.node === undefined) return impossible('the node is gone');
  const all = [
    ...reserve.map(({ claim, volume }) => claimProgress(claim, seen, () => reservationProblem(volume, claim, seen))),
    ...provision.map(({ claim, node }) => claimProgress(claim, seen, (now) => provisionProblem(now, node, seen))),
  ];
  const find = (is: Progress['is']): Progress | undefined => all.find((one) => one.is === is);
  return find('impossible') ?? find('waiting') ?? { is: 'bound' };
}

/** @param problemOf - why an unbound claim will not get the volume of the decision */
function claimProgress(wanted: Readonly<Claim>, seen: Seen, problemOf: (claim: Readonly<Claim>) => string | undefined): Progress {
  const what = `claim ${pathOf(wanted)}`;
  const claim = seen.claim(wanted);
  const gone = claimProblem(claim, wanted);
  if (claim === undefined || gone !== undefined) return impossible(`${what}: ${gone ?? GONE}`);
  const { volumeName = '' } = claim.spec ?? {};
  if (volumeName === '') {
    const problem = problemOf(claim);
    if (problem !== undefined) return impossible(problem);
    return { is: 'waiting', why: `${what} is not bound yet; see its events and the storage provisioner` };
  }
  const volume = seen.volume(volumeName);
  if (volume === undefined) return { is: 'waiting', why: `volume ${volumeName} of ${what} does not exist yet` };
  if (!isReachable(volume, seen.node?.metadata.labels ?? {}))
    return impossible(`${what} got volume ${volumeName}, which this node cannot reach`);
  return isFullyBound(claim) ? { is: 'bound' } : { is: 'waiting', why: `${what} and volume ${volumeName} are not fully bound yet` };
}

function reservationProblem(chosen: Readonly<PersistentVolume>, claim: Readonly<Claim>, seen: Seen): string | undefined {
  const { name = '' } = chosen.metadata;
  const volume = seen.volume(name);
  if (volume === undefined) return `volume ${name} is gone`;
  if (isReservedFor(volume, claim) || isStale(volume, seen)) return undefined;
  return `volume ${name} is no longer reserved for claim ${pathOf(claim)}`;
}

/** A provisioner that cannot provision for the node removes the selected node from the claim. */
function provisionProblem(claim: Readonly<Claim>, node: string, seen: Seen): string | undefined {
  if (selectedNodeOf(claim) === node || isStale(claim, seen)) return undefined;
  return `no volume could be provisioned on this node for claim ${pathOf(claim)}; see its events`;
}

/** Whether the cached object is older than this scheduler's write. */
function isStale(object: Readonly<Claim> | Readonly<PersistentVolume>, seen: Seen): boolean {
  const written = seen.written(object);
  return written !== undefined && isOlder(object.metadata.resourceVersion ?? '', written);
}

function claimProblem(claim: Readonly<Claim> | undefined, wanted: Readonly<Claim>): string | undefined {
  if (claim === undefined) return GONE;
  if (claim.metadata.uid !== wanted.metadata.uid) return 'it was created again under its name';
  return claim.metadata.deletionTimestamp === undefined ? undefined : 'it is being deleted';
}

function pathOf({ metadata: { namespace = '', name = '' } }: Readonly<Claim>): string {
  return `${namespace}/${name}`;
}

const impossible = (why: string): Progress => ({ is: 'impossible', why: `${why}; ${RETRIED}` });
const giveUp = (why: string): Step => ({ do: 'give-up', why: `${why}; ${RETRIED}` });
