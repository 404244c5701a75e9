import { type FilterName, filterNames, type Rejection } from '../plugins/names.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { AssumingView, ClaimUser, StorageView, VolumeDecision, VolumeNeeds, VolumeNode, VolumeRules } from './contract.ts';
import { storageScore } from './storage-score.ts';
import { volumeKey } from './pod-volumes.ts';
import { needsOf } from './needs.ts';
import type { Node } from '../types.ts';
import { decideBinding, filterBinding } from './binding.ts';
import type { ProfileConfig } from '../config/config.ts';
import type { VolumeAsk } from '../engine/engine.ts';
import type { VolumeQuestions } from '../engine/resource-class.ts';
import { filterLimits, filterZone, filterRestrictions } from './filters.ts';

type Filter = (needs: VolumeNeeds, on: VolumeNode, view: StorageView) => Rejection | undefined;

/** In the order in which they are asked. */
const filters: readonly (readonly [plugin: FilterName, filter: Filter])[] = [
  ['VolumeRestrictions', filterRestrictions],
  ['NodeVolumeLimits', filterLimits],
  ['VolumeBinding', filterBinding],
  ['VolumeZone', filterZone],
];

export const volumeRules: VolumeRules = {
  key: volumeKey,
  needs: needsOf,
  filter(needs, on, view, disabled) {
    for (const [plugin, filter] of filters) {
      if (disabled?.has(plugin)) continue;
      const refused = filter(needs, on, view);
      if (refused !== undefined) return refused;
    }
    return undefined;
  },
  score: storageScore,
  decide: decideBinding,
};

/** Pods that count as users of a claim though they are not there: capacity is held for them. */
interface HeldClaims {
  claimUsers(pod: PodInfo, claim: string): readonly ClaimUser[];
}

const nothing: VolumeDecision = { reserve: [], provision: [] };

/** Volumes as one pod's attempt sees them: with the reservations for other pods, without its own. */
export class VolumeWork implements VolumeAsk {
  readonly #view: AssumingView;
  readonly #held: HeldClaims;

  constructor(view: AssumingView, held: HeldClaims) {
    this.#view = view;
    this.#held = held;
  }

  get view(): AssumingView {
    return this.#view;
  }

  key(pod: PodInfo): string {
    return volumeRules.key(pod);
  }

  prepare(pod: PodInfo, profile: ProfileConfig): Rejection | VolumeQuestions | undefined {
    const disabled = disabledIn(profile);
    const view = this.#viewFor(pod);
    const needs = volumeRules.needs(pod, view, disabled);
    if (needs === undefined || 'plugin' in needs) return needs;
    return {
      rejection: (node, pods) => volumeRules.filter(needs, { node, pods }, view, disabled),
      score: (node, max) => volumeRules.score(needs, node, view, profile.volumeBinding.shape, max),
    };
  }

  /** What has to be done for the pod's volumes before it is bound to this node, which passed the filters. */
  decide(pod: PodInfo, profile: ProfileConfig, node: Readonly<Node>, pods: readonly PodInfo[]): VolumeDecision {
    if (this.key(pod) === '') return nothing;
    const disabled = disabledIn(profile);
    if (disabled.has('VolumeBinding')) return nothing;
    const view = this.#viewFor(pod);
    const needs = volumeRules.needs(pod, view, disabled);
    return needs === undefined || 'plugin' in needs ? nothing : volumeRules.decide(needs, { node, pods }, view);
  }

  #viewFor(pod: PodInfo): StorageView {
    const view = this.#view;
    return {
      claim: (namespace, name) => view.claim(namespace, name),
      volume: (name) => view.volume(name),
      volumesOfClass: (name) => view.volumesOfClass(name),
      storageClass: (name) => view.storageClass(name),
      csiNode: (node) => view.csiNode(node),
      csiDriver: (name) => view.csiDriver(name),
      capacities: (name) => view.capacities(name),
      attachedTo: (node) => view.attachedTo(node),
      usersOf: (namespace, claim) => [
        ...view.usersOf(namespace, claim),
        ...(namespace === pod.namespace ? this.#held.claimUsers(pod, claim) : []),
      ],
    };
  }
}

function disabledIn({ filters }: ProfileConfig): ReadonlySet<string> {
  return new Set(filterNames.filter((name) => !filters.has(name)));
}
