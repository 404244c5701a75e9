import type { Millis } from '../../base/clock.ts';
import { nanosPer } from '../../kube/api/pod-requests.ts';
import { objectKey, type Key } from '../../kube/cache/contract.ts';
import { controllerOf } from '../../kube/controller/owner-refs.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Pod } from '../types.ts';
import type { Reservation } from '../reservation/contract.ts';

/** On pods that stand for kept room, so that other schedulers count it. This one counts the room itself, and never them. */
export const PLACEHOLDER_LABEL = 'dkc.dev/room';
/** Uid of the pod whose room it is. A label, for caches keep all labels anyway and no annotations. */
export const PLACEHOLDER_UID_LABEL = 'dkc.dev/room-of-uid';
/** Name of that pod, for people. */
export const PLACEHOLDER_OF_ANNOTATION = 'dkc.dev/room-of';

/** The user that images of this kind run as; any but root will do. */
const NOBODY = 65_535;

/**
 * A pod that does nothing on the node but take what is kept there. It has to be gone before the successor is bound, else the kubelet refuses that one. Nobody
 * selects it, the set goes without asking for it, and the kubelet ends it in time whatever becomes of this process. It is as important as the pod that went: who
 * may take the room may take it from other schedulers too.
 * @param longest - the room is kept for no longer than this from now on
 */
export function placeholderOf(room: Reservation, image: string, longest: Millis): Pod {
  const { namespace, name, owner, node, heldPod, oldUid } = room;
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
      name: placeholderName(room),
      labels: { [PLACEHOLDER_LABEL]: 'kept', [PLACEHOLDER_UID_LABEL]: oldUid },
      annotations: { [PLACEHOLDER_OF_ANNOTATION]: name },
      // Not as its controller: a set looks after pods that it controls.
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
      // As strict as a namespace may ask for.
      securityContext: { runAsNonRoot: true, runAsUser: NOBODY, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'room',
          image,
          // Extended resources want limits as well, equal to requests.
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

/** The same for as long as the room is kept, whoever asks: there is never more than one of them. Another room under that name has another. */
export function placeholderKey(room: Reservation): Key {
  return objectKey({ metadata: { namespace: room.namespace, name: placeholderName(room) } });
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
 * Whether a scheduler with these profiles made the pod. Anybody who may make pods can make one that looks so, and has nothing of it but that it may be deleted: by
 * this alone no pod is overlooked ({@link standsFor}). What lacks any of it is somebody else's and is left alone.
 * @returns the uid of the pod whose room it stands for; undefined: it is none of ours
 */
export function placeholderOldUid(pod: PodInfo, isOurs: (schedulerName: string) => boolean): string | undefined {
  const uid = pod.labels[PLACEHOLDER_UID_LABEL];
  if (pod.labels[PLACEHOLDER_LABEL] !== 'kept' || uid === undefined || pod.nodeName === '' || !isOurs(pod.schedulerName)) return undefined;
  const { ownerReferences = [] } = pod.pod.metadata;
  if (ownerReferences.length !== 1 || controllerOf(pod.pod) !== undefined) return undefined;
  return uid;
}

/** Whether a pod that looks like ours is the one that stands for this room: its name can be that of one pod only. */
export function standsFor(room: Reservation, pod: Pick<PodInfo, 'key' | 'nodeName' | 'labels'>): boolean {
  return pod.nodeName === room.node && pod.labels[PLACEHOLDER_UID_LABEL] === room.oldUid && pod.key === placeholderKey(room);
}

/** Whether a pod takes more of the node than is kept: it must not be overlooked for the sake of the room. */
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
