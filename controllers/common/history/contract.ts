import type { ControllerRevision } from 'kubernetes-types/apps/v1.js';
import type { Kube, KubeObject } from '../../../kube/api/object.ts';
import { goJson, isJsonObject } from '../../../kube/api/json.ts';

export type Revision = Kube<ControllerRevision>;

/** On pods: of which revision they are. */
export const HASH_LABEL = 'controller-revision-hash';

/** All that the history of one owner (a DaemonSet, a StatefulSet) is decided from. */
export interface HistoryFacts {
  owner: Readonly<KubeObject>;
  /** `spec.template` of the owner, as the server gave it: {@link HistoryRules.hash} may see each field and each null. */
  template: Readonly<Record<string, unknown>>;
  /** `status.collisionCount` of the owner. */
  collisionCount: number | undefined;
  /** The owner's, adopted ones included; in no order. */
  revisions: readonly Readonly<Revision>[];
  /** The owner's pods: name, uid and labels. */
  pods: readonly Readonly<KubeObject>[];
}

/** In what the histories of the kinds of owners differ. */
export interface HistoryRules {
  /** On revisions: the hash that their name was made with at first. */
  hashLabel: string;
  /** Of the data of a revision, for its name. */
  hash: (data: unknown, collisionCount: number | undefined) => string;
  /** What is in {@link HASH_LABEL} of pods: the hash of their revision, or its whole name. */
  podsCarry: 'hash' | 'name';
  /** Revisions of one content become one; else the last of them is the current one, and the others are old. */
  dedup: boolean;
  /**
   * The name of a new revision is another's: the count goes into the owner's status at once, and the next pass makes another name; or names are tried
   * until one is free, and the count is handed back, for the status that the pass ends with.
   */
  collisions: 'written' | 'returned';
  /** What the limit of the history counts. Those that are in use stay either way. */
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
  hash: wordHash,
  podsCarry: 'name',
  dedup: false,
  collisions: 'returned',
  limits: 'unused',
};

/** Revisions of one owner that are looked at. */
export const MAX_REVISIONS = 1_000;

/** In the order in which they are done. */
export type HistoryStep =
  /** A revision without the hash label gets its name as the hash. */
  | { do: 'label'; revision: Readonly<Revision>; hash: string }
  | { do: 'create'; revision: Revision }
  | { do: 'renumber'; revision: Readonly<Revision>; to: number }
  /** Its revision is a duplicate that goes. */
  | { do: 'relabel'; pod: Readonly<KubeObject>; hash: string }
  | { do: 'delete'; revision: Readonly<Revision> };

export interface History {
  /** What new pods carry in {@link HASH_LABEL}. */
  hash: string;
  /** Of the present template (the update revision of a StatefulSet): as the server has it, or as it will be made. */
  current: Readonly<Revision>;
  /** All others that stay, lowest revision first. */
  old: readonly Readonly<Revision>[];
  /** As in the facts; where collisions are returned, with those of this pass. */
  collisionCount: number | undefined;
}

export interface HistoryPlan extends History {
  /** Older than the newest {@link MAX_REVISIONS}: nothing is decided by them, and those that no pod uses are deleted first. In no order. */
  excess: readonly Readonly<Revision>[];
  steps: readonly HistoryStep[];
  /** As in the rules. */
  rules: HistoryRules;
}

/**
 * FNV-1a of the content, in letters that spell no words. For DaemonSets, whose upstream controller hashes a dump of Go structures: theirs differ, and
 * need not be the same, for a revision is found by what it holds. Same content, same hash. Pure.
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
 * FNV-1 (it multiplies first) of the data as upstream's StatefulSet controller writes it, then of the count in decimal, in the same letters. For
 * StatefulSets, whose pods carry the whole name of their revision: by the same name either controller finds the other's pods up to date. Pure.
 * @param data - as the server gave it: a null that is left out is another hash
 * @param collisionCount - @default 0, which is hashed too
 */
export function wordHash(data: unknown, collisionCount = 0): string {
  let hash = BASIS;
  const bytes = Buffer.from(goJson(data) + String(collisionCount));
  for (let at = 0; at < bytes.length; at++) hash = Math.imul(hash, PRIME) ^ (bytes[at] ?? 0);
  return inLetters(hash);
}

/** JSON with the fields of every object in one order, and without those that are null. Pure. */
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
