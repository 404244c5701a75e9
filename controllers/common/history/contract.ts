import type { ControllerRevision } from 'kubernetes-types/apps/v1.js';
import type { Kube, KubeObject } from '../../../kube/api/object.ts';
import { goJson, isJsonObject } from '../../../kube/api/json.ts';

export type Revision = Kube<ControllerRevision>;

/** Label of pods: which revision the pod is made from. */
export const HASH_LABEL = 'controller-revision-hash';

/** The input for planning the history of one owner (a DaemonSet, a StatefulSet). */
export interface HistoryFacts {
  owner: Readonly<KubeObject>;
  /** `spec.template` of the owner, exactly as the server returned it: {@link HistoryRules.hash} may hash each field and each null. */
  template: Readonly<Record<string, unknown>>;
  /** `status.collisionCount` of the owner. */
  collisionCount: number | undefined;
  /** The owner's revisions, adopted ones included; in no order. */
  revisions: readonly Readonly<Revision>[];
  /** The owner's pods: name, uid and labels. */
  pods: readonly Readonly<KubeObject>[];
}

/** How the histories of DaemonSets and StatefulSets differ. */
export interface HistoryRules {
  /** Label of revisions: the hash that the first name was made from. */
  hashLabel: string;
  /** Hashes the data of a revision, for its name. */
  hash: (data: unknown, collisionCount: number | undefined) => string;
  /** The value of {@link HASH_LABEL} on pods: the hash of the revision, or its whole name. */
  podsCarry: 'hash' | 'name';
  /** Revisions with the same content are merged; otherwise the last of them is the current one, and the others are old. */
  dedup: boolean;
  /**
   * When another object has the name of a new revision. `written`: the count goes into the owner's status at once, and the next pass makes another name.
   * `returned`: names are tried until one is free, and the count is returned for the status write at the end of the pass.
   */
  collisions: 'written' | 'returned';
  /** Which revisions the history limit counts. Revisions in use stay either way. */
  limits: 'all' | 'unused';
}

export const daemonSetHistory: HistoryRules = {
  hashLabel: HASH_LABEL,
  hash: contentHash,
  podsCarry: 'hash',
  dedup: true,
  collisions: 'written',
  limits: 'all',
};

export const statefulSetHistory: HistoryRules = {
  hashLabel: 'controller.kubernetes.io/hash',
  hash: safeHash,
  podsCarry: 'name',
  dedup: false,
  collisions: 'returned',
  limits: 'unused',
};

/** Max revisions of one owner that are considered. */
export const MAX_REVISIONS = 1_000;

/** In the order in which they are executed. */
export type HistoryStep =
  /** A revision without the hash label gets its name as the hash. */
  | { do: 'label'; revision: Readonly<Revision>; hash: string }
  | { do: 'create'; revision: Revision }
  | { do: 'renumber'; revision: Readonly<Revision>; to: number }
  /** The pod's revision is a duplicate that is deleted. */
  | { do: 'relabel'; pod: Readonly<KubeObject>; hash: string }
  | { do: 'delete'; revision: Readonly<Revision> };

export interface History {
  /** What new pods carry in {@link HASH_LABEL}. */
  hash: string;
  /** The revision of the present template (the update revision of a StatefulSet): as the server has it, or as it will be created. */
  current: Readonly<Revision>;
  /** All other revisions that stay, lowest number first. */
  old: readonly Readonly<Revision>[];
  /** As in the facts; when collisions are returned, including those of this pass. */
  collisionCount: number | undefined;
}

export interface HistoryPlan extends History {
  /** Revisions older than the newest {@link MAX_REVISIONS}: ignored when planning, and those that no pod uses are deleted first. In no order. */
  excess: readonly Readonly<Revision>[];
  steps: readonly HistoryStep[];
  /** As in the rules. */
  rules: HistoryRules;
}

/**
 * FNV-1a of the content, in letters that spell no words. For DaemonSets: upstream hashes a dump of Go structures, so its hashes differ. They need not be
 * equal, because a revision is found by its content. Same content, same hash. Pure.
 */
export function contentHash(data: unknown, collisionCount?: number): string {
  let hash = BASIS;
  const bytes = Buffer.from(canonical(data));
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), PRIME);
  if (collisionCount !== undefined) {
    const count = Buffer.alloc(8);
    count.writeUInt32LE(collisionCount >>> 0);
    for (const byte of count) hash = Math.imul(hash ^ byte, PRIME);
  }
  return inLetters(hash);
}

/**
 * FNV-1 (multiply first) of the data as upstream's StatefulSet controller writes it, then of the count in decimal, in the same letters. For
 * StatefulSets: their pods carry the whole name of the revision, so with equal names each controller finds the other's pods up to date. Pure.
 * @param data - exactly as the server returned it: dropping a null changes the hash
 * @param collisionCount - @default 0, which is hashed too
 */
export function safeHash(data: unknown, collisionCount = 0): string {
  let hash = BASIS;
  const bytes = Buffer.from(goJson(data) + String(collisionCount));
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash, PRIME) ^ (bytes[at] ?? 0);
  return inLetters(hash);
}

/** JSON with the fields of every object sorted, and without null fields. Pure. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value) text += `${text === '' ? '' : ','}${canonical(item)}`;
    return `[${text}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  let text = '';
  for (const key of Object.keys(value).sort()) {
    const field = value[key];
    if (field !== null && field !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonical(field)}`;
  }
  return `{${text}}`;
}

const BASIS = 0x811c9dc5;
const PRIME = 0x01000193;
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

function inLetters(hash: number): string {
  return String(hash >>> 0).replace(/\d/g, (digit) => LETTERS.charAt(digit.charCodeAt(0) % LETTERS.length));
}
