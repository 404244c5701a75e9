import { POD_INDEX_LABEL, POD_NAME_LABEL, type Slot } from './places.ts';
import type { Pod, PodTemplate, Pvc } from '../common/types.ts';
import { statefulSets } from '../../kube/api/object.ts';
import { HASH_LABEL } from '../common/history/contract.ts';
import { podFromTemplate, whyNotAvailable } from '../common/pods.ts';
import type { Rules } from './rules.ts';
import { volumesOf } from './storage.ts';

/**
 * Why a pod is deleted. ended: it has failed or succeeded; scaled-down: its ordinal has no place; update: a pod of the update revision replaces it; forced: it
 * blocks the rollout and is not of the update revision; recreate: all outdated pods are deleted at once.
 */
export type DeletionReason = 'ended' | 'scaled-down' | 'update' | 'forced' | 'recreate';

export type Action =
  | {
      do: 'create';
      slot: Slot;
      /** Name of the pod's revision. */
      revision: string;
      template: Readonly<PodTemplate>;
      /** Created before the pod. */
      pvcs: readonly Pvc[];
      /** Claims that are being deleted: the pod cannot be created before they are gone. */
      terminating: readonly string[];
    }
  | { do: 'delete'; pod: Readonly<Pod>; reason: DeletionReason }
  /** Creates the claims that a pod waits for. */
  | { do: 'storage'; pod: Readonly<Pod>; pvcs: readonly Pvc[]; terminating: readonly string[] }
  /** Corrects the owner references of claims. `eventsFor`: which events report it, as for an update of the pod. */
  | { do: 'pvc-owners'; pod: string; write: readonly Pvc[]; conflicting: readonly string[]; eventsFor: 'all' | 'failures' | 'nothing' }
  | { do: 'grow'; pvc: Pvc }
  /** Corrects the labels of a pod, and its volumes, which the API server rejects. */
  | { do: 'repair'; pod: Pod; hasWrongVolumes: boolean };

/** What the set waits for before it continues. */
export interface Waits {
  /** Usually the name of a pod. */
  object: string;
  /** One word. */
  reason: string;
  /** For people. */
  detail: string;
}

/** Groups of actions. The actions of one group run concurrently; after a failed group only a scale-down continues, if the server rejected the new pods. */
export interface Work {
  readonly groups: readonly (readonly Action[])[];
  /** undefined: the set waits for nothing. */
  readonly waits: Waits | undefined;
}

/** A pod with its name, its host name and its claims. @throws {Error} for a template without labels */
export function newPod(
  rules: Rules,
  { name, ordinal, revision, template }: { name: string; ordinal: number; revision: string; template: Readonly<PodTemplate> },
): Pod {
  const { set, namespace } = rules;
  const pod = podFromTemplate(template, set, statefulSets);
  const labels = { ...pod.metadata.labels, [POD_NAME_LABEL]: name, [POD_INDEX_LABEL]: String(ordinal), [HASH_LABEL]: revision };
  const spec = template.spec ?? { containers: [] };
  const volumes = volumesOf(rules, ordinal, spec.volumes);
  return {
    ...pod,
    metadata: { ...pod.metadata, name, namespace, labels },
    spec: {
      ...spec,
      hostname: name,
      ...(set.spec?.serviceName === undefined ? {} : { subdomain: set.spec.serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}

const details = {
  creating: 'it is about to be created',
  'stale-claim': 'a PersistentVolumeClaim of the previous pod is about to be deleted with it',
  'unknown-place': 'dkc.dev/reserve-ordinals is invalid and may reserve this ordinal',
  updating: 'it is of an old revision and is about to be replaced',
  recreating: 'it is of an old revision; all of these are deleted before new ones are created',
  'scaling-down': 'its ordinal is no longer part of the set',
} as const;

/** @param what - @default what keeps the pod from being available */
export function waitsFor({ name, pod }: Slot, what?: keyof typeof details): Waits {
  const state = pod === undefined ? undefined : whyNotAvailable(pod);
  if (what === undefined) return { object: name, reason: state?.reason ?? 'NoPod', detail: state?.text ?? 'the pod does not exist' };
  const ready = pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
  const terminating = pod?.metadata.deletionTimestamp !== undefined;
  const also = state === undefined || (ready && !terminating) ? '' : `; ${state.text}`;
  return { object: name, reason: what, detail: `${details[what]}${also}` };
}
