import type { Millis } from '../../base/clock.ts';
import { isJsonObject, ownField } from '../../kube/api/json.ts';
import { dnsSubdomainProblems } from '../../kube/api/names.ts';
import { podInfoOf, type PodInfo } from '../pod/pod-info.ts';
import type { Node, Pod, StatefulSet } from '../types.ts';
import type { Reservation } from './contract.ts';
import { heldPodOf } from './capacity.ts';
import { whyNotOnNode, whySetMakesNone } from './lifetime.ts';

/** Annotation of a StatefulSet: reservations for its pods, read by the next process. */
export const RESERVATIONS_ANNOTATION = 'dkc.dev/reservations';

/** A terminating pod, its node, and until when its reservation is worth restoring. */
export interface SavedReservation {
  readonly name: string;
  readonly node: string;
  /** Of the pod. */
  readonly uid: string;
  /** ISO 8601. */
  readonly until: string;
}

/** Annotations of an object have 256 KiB together. */
const MAX_LENGTH = 64 * 1024;
const MAX_ENTRIES = 500;

/** Entry for a pod that is terminating: `until` is the end of its grace period plus `ttlMs`. */
export function entryFor(pod: PodInfo, ttlMs: Millis, now: Millis): SavedReservation {
  const end = Date.parse(pod.pod.metadata.deletionTimestamp ?? '');
  const until = (Number.isFinite(end) ? Math.max(end, now) : now) + ttlMs;
  return { name: pod.name, node: pod.nodeName, uid: pod.uid, until: new Date(until).toISOString() };
}

/** @returns null: remove the annotation. Beyond the limits, the oldest entries are left out: a restart loses their reservations */
export function encodeReservations(entries: readonly SavedReservation[]): string | null {
  const kept: string[] = [];
  let length = 2;
  for (const { name, node, uid, until } of entries.slice(-MAX_ENTRIES).toReversed()) {
    const text = JSON.stringify({ name, node, uid, until });
    length += text.length + 1;
    if (length > MAX_LENGTH) break;
    kept.push(text);
  }
  return kept.length === 0 ? null : `[${kept.toReversed().join(',')}]`;
}

/** Any user who may edit the set can write this: invalid entries are rejected, each with a reason. Never throws. */
export function decodeReservations(text: string | undefined): { entries: readonly SavedReservation[]; refused: readonly string[] } {
  const refuseAll = (why: string): { entries: readonly SavedReservation[]; refused: readonly string[] } => ({
    entries: [],
    refused: [why],
  });
  if (text === undefined) return { entries: [], refused: [] };
  if (text.length > MAX_LENGTH) return refuseAll(`it is longer than ${MAX_LENGTH} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuseAll('it is not JSON');
  }
  if (!Array.isArray(value)) return refuseAll('it is not a list');
  if (value.length > MAX_ENTRIES) return refuseAll(`it has more than ${MAX_ENTRIES} entries`);
  const entries = new Map<string, SavedReservation>();
  const refused: string[] = [];
  for (const [at, item] of (value as unknown[]).entries()) {
    const entry = entryOf(item);
    if (typeof entry === 'string') refused.push(`entry ${at}: ${entry}`);
    else if (entries.has(entry.name)) refused.push(`entry ${at}: a second one for ${entry.name}`);
    else entries.set(entry.name, entry);
  }
  return { entries: [...entries.values()], refused };
}

export interface RestoreFacts {
  readonly set: Readonly<StatefulSet>;
  /** Whether the cache has an assigned pod of this name in the set's namespace, also a terminating one: its deletion will be seen. */
  readonly isPlaced: (name: string) => boolean;
  readonly node: (name: string) => Readonly<Node> | undefined;
  /** Priority of pods of the set, or of its class in its namespace: the priority in a template is not validated. @default 0 */
  readonly priority: number | undefined;
  readonly isOwnScheduler: (schedulerName: string) => boolean;
  /** No restored reservation lasts longer than this from now on, whatever the annotation says. */
  readonly longestMs: Millis;
  readonly now: Millis;
}

/**
 * Reservations of an earlier process for a set. The pods are deleted, so that their requests are taken from the present template. The caller checks whether
 * that capacity is still free, after the caches have synced.
 */
export function restoredFrom(facts: RestoreFacts): { reservations: readonly Reservation[]; refused: readonly string[] } {
  const { set, now } = facts;
  const { entries, refused } = decodeReservations(set.metadata.annotations?.[RESERVATIONS_ANNOTATION]);
  const reservations: Reservation[] = [];
  const reasons = [...refused];
  for (const entry of entries) {
    const why = whyNotRestored(facts, entry);
    if (why !== undefined) {
      reasons.push(`${entry.name}: ${why}`);
      continue;
    }
    const { namespace = '', name = '', uid = '' } = set.metadata;
    const pod = podInfoOf(likeOneOf(facts, entry));
    reservations.push({
      namespace,
      name: entry.name,
      owner: { apiVersion: 'apps/v1', kind: 'StatefulSet', name, uid, controller: true },
      oldUid: entry.uid,
      node: entry.node,
      priority: pod.priority,
      heldPod: heldPodOf(pod),
      createdAt: now,
      expiresAt: Math.min(Date.parse(entry.until), now + facts.longestMs),
      purpose: 'upgrade',
      why: `restored from the set's annotation ${RESERVATIONS_ANNOTATION}`,
      state: 'active',
      claimant: undefined,
      failedAt: undefined,
    });
  }
  return { reservations, refused: reasons };
}

function whyNotRestored({ set, isPlaced, node, isOwnScheduler, now }: RestoreFacts, entry: SavedReservation): string | undefined {
  if (Date.parse(entry.until) <= now) return `it expired at ${entry.until}`;
  if (isPlaced(entry.name)) return 'a pod of that name is on a node';
  const owner = { kind: 'StatefulSet', name: set.metadata.name ?? '' };
  return (
    whySetMakesNone(set, owner, entry.name, isOwnScheduler) ?? whyNotOnNode(entry.node, node(entry.node), set.spec?.template.spec, true)
  );
}

function likeOneOf({ set, priority }: RestoreFacts, { name, node, uid }: SavedReservation): Pod {
  const { template, volumeClaimTemplates = [] } = set.spec ?? {};
  const spec = template?.spec ?? { containers: [] };
  const claimed = new Set(volumeClaimTemplates.map(({ metadata }) => metadata?.name ?? ''));
  const claims = [...claimed].map((claim) => ({ name: claim, persistentVolumeClaim: { claimName: `${claim}-${name}` } }));
  const volumes = [...(spec.volumes ?? []).filter((volume) => !claimed.has(volume.name)), ...claims];
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    name: set.metadata.name ?? '',
    uid: set.metadata.uid ?? '',
    controller: true,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace: set.metadata.namespace ?? '', name, uid, labels: template?.metadata?.labels ?? {}, ownerReferences: [owner] },
    spec: { ...spec, volumes, nodeName: node, priority: priority ?? 0 },
  };
}

function entryOf(item: unknown): SavedReservation | string {
  if (!isJsonObject(item)) return 'not an object';
  const [name, node, uid, until] = ['name', 'node', 'uid', 'until'].map((field) => ownField(item, field));
  if (typeof name !== 'string' || dnsSubdomainProblems(name).length > 0) return 'name is not a pod name';
  if (typeof node !== 'string' || dnsSubdomainProblems(node).length > 0) return 'node is not a node name';
  if (typeof uid !== 'string' || !/^[-\w.:]{1,128}$/.test(uid)) return 'uid is not a uid';
  if (typeof until !== 'string' || !/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(until) || !Number.isFinite(Date.parse(until)))
    return 'until is not a time such as 2026-01-01T00:00:00Z';
  return { name, node, uid, until };
}
