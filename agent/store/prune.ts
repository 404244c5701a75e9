import type { MaybeSource, PayloadRef } from '../checkpoint/source.ts';
import { samePayload } from '../checkpoint/source.ts';
import type { CheckpointEntry } from './store.ts';

export interface PruneFacts {
  /** In the order of `Store.list()`: newest first. */
  entries: readonly CheckpointEntry[];
  /** False where `meta/assigned` is missing or damaged: then nothing is removed, since the checkpoint that is needed next is unknown. */
  assignedKnown: boolean;
  assigned: MaybeSource;
  lastKnownGood: MaybeSource;
  active: MaybeSource;
  /** Text of the effective file, '' when there is none. It may name sibling files in a checkpoint, which a running kubelet opens. */
  effectiveText: string;
  /** How many of the newest other checkpoints stay (`--keep-checkpoints`). */
  keep: number;
}

export interface PruneDecision {
  entry: CheckpointEntry;
  /** Why the checkpoint stays: a role, `in use by the effective file`, `one of the newest N`, ...; absent when it is removed. */
  kept?: string;
}

/** Which checkpoints to remove, in the order of `entries`. For the agent's garbage collection and for `dkc checkpoints prune`. */
export function planPrune(facts: PruneFacts): PruneDecision[] {
  let others = 0;
  return facts.entries.map((entry) => {
    if (!facts.assignedKnown) return { entry, kept: 'the assigned checkpoint is unknown' };
    const needed = whyNeeded(entry.ref, facts);
    if (needed !== undefined) return { entry, kept: needed };
    others += 1;
    return others <= facts.keep ? { entry, kept: `one of the newest ${facts.keep}` } : { entry };
  });
}

function whyNeeded(ref: PayloadRef, facts: PruneFacts): string | undefined {
  const names = (source: MaybeSource) => source !== null && samePayload(source, ref);
  if (names(facts.assigned)) return 'assigned';
  if (names(facts.lastKnownGood)) return 'last-known-good';
  if (names(facts.active)) return 'active';
  return refersTo(facts.effectiveText, ref) ? 'in use by the effective file' : undefined;
}

/** Whether `text` holds a path into the checkpoint directory of `ref`. `/u/12` is not in `/u/123/ca.pem`. */
export function refersTo(text: string, ref: PayloadRef): boolean {
  const needle = `/${ref.uid}/${ref.resourceVersion}`;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const next = text.charAt(at + needle.length);
    if (next === '' || !/[-\w.]/.test(next)) return true;
  }
  return false;
}
