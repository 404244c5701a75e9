import type { Clock } from '../../base/clock.ts';
import { objectKey } from '../../kube/cache/contract.ts';
import { ownedOrOrphaned } from '../common/owner-index.ts';
import type { SetMemory } from '../common/set-memory.ts';
import { BY_SET, type Caches } from './caches.ts';
import type { Observed } from './facts.ts';
import type { Rules } from './rules.ts';
import type { StorageClass } from './types.ts';

export interface Observer {
  caches: Caches;
  memory: SetMemory;
  clock: Clock;
}

/** What the caches have of one set now. It only reads: what follows from it is for the plan. */
export function observe(rules: Rules, { caches, memory, clock }: Observer): Observed {
  const { set, namespace } = rules;
  return {
    rules,
    now: clock.now(),
    memory: memory.of(rules),
    pods: ownedOrOrphaned(caches.pods, set, BY_SET),
    revisions: ownedOrOrphaned(caches.revisions, set),
    pvc: (name) => caches.pvcs.get(objectKey({ metadata: { name, namespace } })),
    allPvcs: () => caches.pvcs.list(namespace),
    storageClass: (name) => (name === undefined ? defaultClassOf(caches.classes.list()) : caches.classes.get(name)),
  };
}

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The one of claims that name none. */
export function defaultClassOf(classes: readonly Readonly<StorageClass>[]): Readonly<StorageClass> | undefined {
  return classes.find(isDefaultClass);
}

export function isDefaultClass({ metadata }: Readonly<StorageClass>): boolean {
  return metadata.annotations?.[DEFAULT_CLASS] === 'true';
}
