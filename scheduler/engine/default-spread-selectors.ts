import type { OwnerReference } from '../../kube/api/object.ts';
import { matchesLabels, type LabelSelector } from '../../kube/api/selector.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import { labelsKey } from '../cache/pod-groups.ts';
import type { DefaultSelectorOf } from './topology-class.ts';
import { readSelector, selectorText } from '../pod/selectors.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { ReplicaSet, Service, StatefulSet } from '../types.ts';

/** Where services and controllers are looked up. */
export interface Owners {
  services(namespace: string): readonly Readonly<Service>[];
  replicationController(key: string): Readonly<ReplicaSet> | undefined;
  replicaSet(key: string): Readonly<ReplicaSet> | undefined;
  statefulSet(key: string): Readonly<StatefulSet> | undefined;
}

const MAX_ENTRIES = 20_000;
/** A controller's selector with more requirements is ignored: every other pod of the namespace would be compared with it. */
const MAX_REQUIREMENTS = 100;

/**
 * Selectors for the default topology spread constraints of a pod that has none: those of its Services and of its controller, all of which must match. Cached
 * until {@link changed}.
 */
export class DefaultSpreadSelectors {
  readonly #owners: Owners;
  readonly #known = new Map<string, ReturnType<DefaultSelectorOf>>();

  constructor(owners: Owners) {
    this.#owners = owners;
  }

  /** A Service or a controller changed. */
  changed(): void {
    this.#known.clear();
  }

  readonly of: DefaultSelectorOf = (pod) => {
    const owner = controllerOf(pod.pod);
    const key = `${pod.namespace}/${owner?.apiVersion ?? ''}/${owner?.kind ?? ''}/${owner?.name ?? ''} ${labelsKey(pod.labels)}`;
    const known = this.#known.get(key);
    if (known !== undefined || this.#known.has(key)) return known;
    const found = this.#find(pod, owner);
    if (this.#known.size >= MAX_ENTRIES) this.#known.clear();
    this.#known.set(key, found);
    return found;
  };

  #find({ namespace, labels }: PodInfo, owner: Readonly<OwnerReference> | undefined): ReturnType<DefaultSelectorOf> {
    const selectors: LabelSelector[] = [];
    for (const { spec } of this.#owners.services(namespace)) {
      const exact = exactly(spec?.selector);
      // A Service without a selector selects no pods; its endpoints are managed by hand.
      if (exact.length > 0 && matchesLabels(exact, labels)) selectors.push(exact);
    }
    if (owner !== undefined) selectors.push(this.#ofOwner(`${owner.apiVersion}/${owner.kind}`, `${namespace}/${owner.name}`));
    const selector = [...new Map(selectors.flat().map((requirement) => [JSON.stringify(requirement), requirement])).values()];
    return selector.length === 0 ? undefined : { id: selectorText(selector), selector };
  }

  #ofOwner(kind: string, key: string): LabelSelector {
    switch (kind) {
      case 'v1/ReplicationController':
        return exactly(this.#owners.replicationController(key)?.spec?.selector as unknown as Record<string, string> | undefined);
      case 'apps/v1/ReplicaSet':
        return read(this.#owners.replicaSet(key));
      case 'apps/v1/StatefulSet':
        return read(this.#owners.statefulSet(key));
      default:
        return [];
    }
  }
}

function read(owner: Readonly<ReplicaSet> | Readonly<StatefulSet> | undefined): LabelSelector {
  const selector = (owner?.spec?.selector && readSelector(owner.spec.selector)) ?? [];
  return selector.length > MAX_REQUIREMENTS ? [] : selector;
}

function exactly(labels: Readonly<Record<string, string>> | undefined): LabelSelector {
  return Object.entries(labels ?? {}).map(([key, value]) => ({ key, operator: 'in' as const, values: [value] }));
}
