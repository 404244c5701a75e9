import { type Key, objectKey } from '../../kube/cache/contract.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Reservation } from '../reservation/contract.ts';
import type { Millis } from '../../base/clock.ts';
import { nanosPer } from '../../kube/api/pod-requests.ts';
import { controllerOf } from '../../kube/controller/owners.ts';
import type { Pod } from '../types.ts';

/** Label of placeholder pods, which hold reserved capacity so that other schedulers count it. This scheduler counts the reservation and never the pod. */
export const PLACEHOLDER_LABEL = 'dkc.dev/room';
/** UID of the deleted pod whose capacity is reserved. A label, because caches keep all labels and drop annotations. */
const PLACEHOLDER_UID_LABEL = 'dkc.dev/room-of-uid';
/** Name of the deleted pod, for people. */
const PLACEHOLDER_OF_ANNOTATION = 'dkc.dev/room-of';

/** The user of the placeholder's container; any but root would do. */
const NOBODY = 65_535;

/**
 * A pod that only requests the reserved capacity on the node. It must be deleted before the successor is bound, else the kubelet rejects the successor. No
 * selector matches it, garbage collection of its set does not wait for it, and `activeDeadlineSeconds` has the kubelet end it when this process does not. It
 * has the priority of the deleted pod: pods that may preempt the reservation may preempt it in other schedulers as well.
 * @param longest - the reservation expires at the latest after this
 */
export function placeholderOf(reservation: Reservation, image: string, longest: Millis): Pod {
  const { namespace, name, owner, node, heldPod, oldUid } = reservation;
  const { cpu, memory, ephemeral, scalars } = heldPod.requests;
  const asks = new Map<string, number>([['cpu', cpu], ['memory', memory], ['ephemeral-storage', ephemeral], ...scalars]);
  const amounts = Object.fromEntries(
    [...asks].filter(([, amount]) => amount > 0).map(([resource, amount]) => [resource, textOf(resource, amount)]),
  );
  const { apiVersion, kind, uid } = owner;
  const { priorityClassName } = heldPod.pod.spec ?? {};
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      namespace,
      name: placeholderName(reservation),
      labels: { [PLACEHOLDER_LABEL]: 'kept', [PLACEHOLDER_UID_LABEL]: oldUid },
      annotations: { [PLACEHOLDER_OF_ANNOTATION]: name },
      // Not as its controller: a set counts and deletes pods that it controls.
      ownerReferences: [{ apiVersion, kind, name: owner.name, uid, controller: false }],
    },
    spec: {
      nodeName: node,
      schedulerName: heldPod.schedulerName,
      ...(priorityClassName === undefined || priorityClassName === '' ? {} : { priorityClassName }),
      activeDeadlineSeconds: Math.max(1, Math.ceil(longest / 1_000)),
      terminationGracePeriodSeconds: 0,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      restartPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
      // Satisfies the restricted Pod Security Standard.
      securityContext: { runAsNonRoot: true, runAsUser: NOBODY, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'room',
          image,
          // Extended resources need limits equal to their requests.
          resources: {
            requests: amounts,
            limits: Object.fromEntries(Object.entries(amounts).filter(([resource]) => scalars.has(resource))),
          },
          securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
          ports: heldPod.ports.map(({ port, protocol, ip }) => ({ containerPort: port, hostPort: port, protocol, hostIP: ip })),
        },
      ],
    },
  };
}

/** The same for the whole life of a reservation, so that it has at most one placeholder pod. Another reservation for a pod of that name has another. */
export function placeholderKey(reservation: Reservation): Key {
  return objectKey({ metadata: { namespace: reservation.namespace, name: placeholderName(reservation) } });
}

function placeholderName({ name, oldUid }: Pick<Reservation, 'name' | 'oldUid'>): string {
  const stem = `${name.slice(0, 220).replace(/[-.]+$/, '')}-room`;
  const tail = oldUid
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(-10);
  return tail === '' ? stem : `${stem}-${tail}`;
}

/**
 * Whether the pod has all marks of a placeholder pod of a scheduler with these profiles. Every user who may create pods can create one that has them, and only
 * achieves that it may be deleted: a pod is left out of the count by {@link isPlaceholderFor} alone. A pod that lacks any mark is not ours and is never deleted.
 * @returns the UID of the pod whose reservation it holds; undefined when it is not ours
 */
export function placeholderOldUid(pod: PodInfo, isOwnScheduler: (schedulerName: string) => boolean): string | undefined {
  const uid = pod.labels[PLACEHOLDER_UID_LABEL];
  if (pod.labels[PLACEHOLDER_LABEL] !== 'kept' || uid === undefined || pod.nodeName === '' || !isOwnScheduler(pod.schedulerName))
    return undefined;
  const { ownerReferences = [] } = pod.pod.metadata;
  if (ownerReferences.length !== 1 || controllerOf(pod.pod) !== undefined) return undefined;
  return uid;
}

/** Whether a pod with our marks holds this reservation: only one pod can have the reservation's placeholder name. */
export function isPlaceholderFor(reservation: Reservation, pod: Pick<PodInfo, 'key' | 'nodeName' | 'labels'>): boolean {
  return (
    pod.nodeName === reservation.node && pod.labels[PLACEHOLDER_UID_LABEL] === reservation.oldUid && pod.key === placeholderKey(reservation)
  );
}

/** Whether a pod requests more than is reserved: then the reservation does not stand in for it, and it must be counted. */
export function exceeds({ heldPod }: Reservation, { requests, ports }: Pick<PodInfo, 'requests' | 'ports'>): boolean {
  const kept = heldPod.requests;
  if (requests.cpu > kept.cpu || requests.memory > kept.memory || requests.ephemeral > kept.ephemeral) return true;
  for (const [name, amount] of requests.scalars) if (amount > (kept.scalars.get(name) ?? 0)) return true;
  return !ports.every(({ port, protocol, ip }) =>
    heldPod.ports.some((own) => own.port === port && own.protocol === protocol && own.ip === ip),
  );
}

function textOf(resource: string, amount: number): string {
  return nanosPer(resource) === 1_000_000n ? `${amount}m` : String(amount);
}

/** What is known of a placeholder pod. */
export interface PlaceholderPod {
  readonly key: Key;
  readonly node: string;
  /** UID of the deleted pod whose reservation it holds. */
  readonly oldUid: string;
  /** '' while it is unknown whether the pod exists. */
  readonly uid: string;
  /** As it was last seen. */
  readonly info: PodInfo | undefined;
}

export interface PlaceholderFacts {
  readonly kept: readonly Reservation[];
  /** Reservations released to pods that are being bound to the same node: their placeholder pods stay until right before the binding. */
  readonly given: readonly Reservation[];
  /** UIDs of deleted pods whose successors are bound as soon as the placeholder pod is gone. */
  readonly due: ReadonlySet<string>;
  readonly placeholders: readonly PlaceholderPod[];
  /** UIDs of deleted pods for whose reservation one was created: there is no second one after another client deleted the first, or the server refused it. */
  readonly had: ReadonlySet<string>;
}

export interface PlaceholderPlan {
  readonly make: readonly Reservation[];
  /** Must be deleted before any pod is bound to their node. */
  readonly remove: readonly { readonly placeholder: PlaceholderPod; readonly why: string }[];
}

/**
 * Which placeholder pods to create and which to delete. A reservation that a successor has claimed is about to be used: none is created for it, and an existing
 * one stays. The deleted pod is gone from the API before its capacity is reserved, so that it and its placeholder pod are never on the node together.
 */
export function planPlaceholders({ kept, given, due, placeholders, had }: PlaceholderFacts): PlaceholderPlan {
  const rooms = new Map(
    [...given, ...kept].filter(({ oldUid }) => !due.has(oldUid)).map((reservation) => [placeholderKey(reservation), reservation]),
  );
  const known = new Set(placeholders.filter(({ uid }) => uid !== '').map(({ key }) => key));
  return {
    make: kept.filter((reservation) => {
      const { state, oldUid } = reservation;
      return state === 'active' && !due.has(oldUid) && !had.has(oldUid) && !known.has(placeholderKey(reservation));
    }),
    remove: placeholders.flatMap((placeholder) => {
      const why = whyNot(placeholder, rooms.get(placeholder.key));
      return why === undefined ? [] : [{ placeholder, why }];
    }),
  };
}

function whyNot({ key, node, oldUid, info }: PlaceholderPod, reservation: Reservation | undefined): string | undefined {
  if (reservation === undefined || reservation.node !== node || reservation.oldUid !== oldUid) return 'the reservation ended';
  if (info === undefined) return undefined;
  if (info.key !== key || !isPlaceholderFor(reservation, info)) return 'it is not the pod that was created';
  return exceeds(reservation, info) ? 'it requests more than is reserved' : undefined;
}
