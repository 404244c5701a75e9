import { isOlder } from '../../kube/cache/change.ts';
import type { Claim, Node, Volume } from '../types.ts';
import { isReachable } from './binding.ts';
import { BOUND_BY_CONTROLLER, isFullyBound, isReservedFor, SELECTED_NODE, selectedNodeOf } from './claims.ts';
import { claimRefTo } from './assumptions.ts';
import type { VolumeDecision } from './contract.ts';

const GONE = 'it is gone';
const AGAIN = 'the pod will be retried';

/** What to write next so that a decision comes true; `why` finishes the sentence "Cannot ...:". */
export type Step = { do: 'nothing' } | { do: 'patch'; patch: object } | { do: 'give-up'; why: string };

export type Progress = { is: 'bound' } | { is: 'waiting'; why: string } | { is: 'impossible'; why: string };

/** @param volume - as it is now: the patch is refused when it has changed meanwhile. @param claim - as it is now. @param wanted - as it was decided for */
export function planReservation(volume: Readonly<Volume> | undefined, claim: Readonly<Claim> | undefined, wanted: Readonly<Claim>): Step {
  const problem = claimProblem(claim, wanted);
  if (claim === undefined || problem !== undefined) return giveUp(`claim ${pathOf(wanted)}: ${problem ?? GONE}`);
  // Somebody else gave it one; whether that will do is to be seen.
  if ((claim.spec?.volumeName ?? '') !== '') return { do: 'nothing' };
  if (volume === undefined) return giveUp(GONE);
  const ref = volume.spec?.claimRef;
  if (ref && !isReservedFor(volume, claim)) return giveUp(`it is already reserved for claim ${ref.namespace ?? ''}/${ref.name ?? ''}`);
  if (ref?.uid) return { do: 'nothing' };
  const { resourceVersion, uid } = volume.metadata;
  // What a person reserved stays reserved when the claim goes; what is chosen here is free again.
  const chosen = ref ? {} : { annotations: { [BOUND_BY_CONTROLLER]: 'yes' } };
  return { do: 'patch', patch: { metadata: { resourceVersion, uid, ...chosen }, spec: { claimRef: claimRefTo(claim) } } };
}

/** @param claim - as it is now: the patch is refused when it has changed meanwhile. @param wanted - as it was decided for */
export function planProvision(claim: Readonly<Claim> | undefined, wanted: Readonly<Claim>, node: string): Step {
  const problem = claimProblem(claim, wanted);
  if (claim === undefined || problem !== undefined) return giveUp(problem ?? GONE);
  const selected = selectedNodeOf(claim);
  if (selected === node || (claim.spec?.volumeName ?? '') !== '') return { do: 'nothing' };
  if (selected !== undefined) return giveUp(`its volume is being provisioned for node ${selected}`);
  const { resourceVersion, uid } = claim.metadata;
  return { do: 'patch', patch: { metadata: { resourceVersion, uid, annotations: { [SELECTED_NODE]: node } } } };
}

export interface Seen {
  /** undefined: it is gone. */
  node: Readonly<Node> | undefined;
  claim(wanted: Readonly<Claim>): Readonly<Claim> | undefined;
  volume(name: string): Readonly<Volume> | undefined;
  /** The version that our write gave the object; undefined: nothing was written. What is older says nothing. */
  written(object: Readonly<Claim> | Readonly<Volume>): string | undefined;
}

/** How far a decision has come: the first of its claims that is not bound, and what is in its way. */
export function progressOf({ reserve, provision }: VolumeDecision, seen: Seen): Progress {
  if (seen.node === undefined) return impossible('the node is gone');
  const all = [
    ...reserve.map(({ claim, volume }) => claimProgress(claim, seen, () => reservationProblem(volume, claim, seen))),
    ...provision.map(({ claim, node }) => claimProgress(claim, seen, (now) => provisionProblem(now, node, seen))),
  ];
  const find = (is: Progress['is']): Progress | undefined => all.find((one) => one.is === is);
  return find('impossible') ?? find('waiting') ?? { is: 'bound' };
}

/** @param problemOf - why a claim without a volume will not get the one that was decided on */
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

function reservationProblem(chosen: Readonly<Volume>, claim: Readonly<Claim>, seen: Seen): string | undefined {
  const { name = '' } = chosen.metadata;
  const volume = seen.volume(name);
  if (volume === undefined) return `volume ${name} is gone`;
  if (isReservedFor(volume, claim) || isStale(volume, seen)) return undefined;
  return `volume ${name} is no longer reserved for claim ${pathOf(claim)}`;
}

/** A provisioner that cannot make the volume there takes the node out of the claim again. */
function provisionProblem(claim: Readonly<Claim>, node: string, seen: Seen): string | undefined {
  if (selectedNodeOf(claim) === node || isStale(claim, seen)) return undefined;
  return `no volume could be provisioned on this node for claim ${pathOf(claim)}; see its events`;
}

/** Seen as it was before our own write. */
function isStale(object: Readonly<Claim> | Readonly<Volume>, seen: Seen): boolean {
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

const impossible = (why: string): Progress => ({ is: 'impossible', why: `${why}; ${AGAIN}` });
const giveUp = (why: string): Step => ({ do: 'give-up', why: `${why}; ${AGAIN}` });
