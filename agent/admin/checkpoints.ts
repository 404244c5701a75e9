import { type AdminFacts, isKnown, recorded, viewActive } from './facts.ts';
import { condemnationOf, isRefused, type Role, rolesOf, sourceOf } from './roles.ts';
import type { CheckpointEntry, Store } from '../store/store.ts';
import type { FileDigest, Source } from '../checkpoint/source.ts';
import { applyDefaults, compareConfigs, decode, type Difference, resolvePaths } from '../config/config.ts';
import type { JsonObject, KubeletVersion } from '../config/contract.ts';
import { problemText } from '../evaluate/local.ts';
import { planPrune } from '../store/prune.ts';

/** One element of `dkc checkpoints list -o json`. */
export interface CheckpointRow {
  source: Source;
  /** Bytes of all files together; 0 when the manifest is unreadable. */
  bytes: number;
  files: readonly FileDigest[];
  roles: readonly Role[];
  state: 'intact' | 'damaged' | 'condemned' | 'refused';
  /** RFC 3339; null when the manifest is unreadable. */
  savedAt: string | null;
}

/** Newest first, in the order of the store's list. */
export function viewCheckpoints(facts: AdminFacts): CheckpointRow[] {
  return facts.entries.map((entry) => {
    const files = (entry.manifest?.files ?? []).map(({ key, bytes, sha256 }) => ({ key, bytes, sha256 }));
    return {
      source: sourceOf(entry, facts),
      bytes: files.reduce((sum, file) => sum + file.bytes, 0),
      files,
      roles: rolesOf(entry.ref, facts),
      state: stateOf(entry, facts),
      savedAt: entry.manifest?.savedAt ?? null,
    };
  });
}

/** Damage comes before condemnation: a damaged checkpoint is downloaded again first. */
function stateOf(entry: CheckpointEntry, facts: AdminFacts): CheckpointRow['state'] {
  if (entry.state === 'damaged') return 'damaged';
  if (condemnationOf(entry, facts)) return 'condemned';
  return isRefused(entry, facts) ? 'refused' : 'intact';
}

/** One of the two configs to compare. */
export interface Side {
  /** For people: the REF as asked, or `local config`. */
  title: string;
  files: ReadonlyMap<string, Uint8Array>;
  kubeletConfigKey: string;
  /** Directory for relative paths; absent where the directories of both sides are equivalent, as for two checkpoints. */
  dir?: string;
}

/** A file beside the kubelet configuration that differs between the sides; null where it is missing. */
export interface FileDifference {
  key: string;
  from: string | null;
  to: string | null;
}

export type Compared =
  | { ok: true; fields: readonly Difference[]; files: readonly FileDifference[] }
  /** One side is not a kubelet configuration: exit 1. */
  | { ok: false; why: string };

/** The fields that differ between two configurations, both with the defaults of `version`, and the other files that differ. */
export function compareSides(from: Side, to: Side, version: KubeletVersion): Compared {
  const [a, b] = [effectOf(from, version), effectOf(to, version)];
  if (typeof a === 'string') return { ok: false, why: a };
  if (typeof b === 'string') return { ok: false, why: b };
  return { ok: true, fields: compareConfigs(a, b, { byKey: true }), files: compareFiles(from, to) };
}

/** The configuration with defaults, or why it is not a kubelet configuration. */
function effectOf({ title, files, kubeletConfigKey, dir }: Side, version: KubeletVersion): JsonObject | string {
  const bytes = files.get(kubeletConfigKey);
  if (!bytes) return `${title} has no key ${JSON.stringify(kubeletConfigKey)}; its keys are ${Array.from(files.keys()).join(', ')}`;
  const decoded = decode(bytes, version);
  if (!decoded.ok) return `${title} is not a kubelet configuration: ${problemText(decoded.errors)}`;
  return applyDefaults(dir === undefined ? decoded.written : resolvePaths(decoded.written, dir, version), version);
}

function compareFiles(from: Side, to: Side): FileDifference[] {
  const beside = (side: Side) => Array.from(side.files.keys()).filter((key) => key !== side.kubeletConfigKey);
  const text = (side: Side, key: string): string | null => {
    const bytes = key === side.kubeletConfigKey ? undefined : side.files.get(key);
    return bytes ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : null;
  };
  return [...new Set([...beside(from), ...beside(to)])]
    .toSorted()
    .map((key) => ({ key, from: text(from, key), to: text(to, key) }))
    .filter((one) => one.from !== one.to);
}

/** One element of `dkc checkpoints prune -o json`: a checkpoint that may be removed. */
export interface Pruned {
  source: Source;
  /** False in a dry run. */
  removed: boolean;
}

/** Removes the checkpoints that {@link planPrune} does not keep, in one change of the store. */
export async function prune(
  store: Store,
  observe: () => Promise<AdminFacts>,
  options: { keep: number; dryRun: boolean },
): Promise<Pruned[]> {
  if (options.dryRun) return spare(await observe(), options.keep).map((source) => ({ source, removed: false }));
  return store.locked(async () => {
    const removed: Pruned[] = [];
    for (const source of spare(await observe(), options.keep)) {
      await store.removeCheckpoint(source);
      removed.push({ source, removed: true });
    }
    return removed;
  });
}

function spare(facts: AdminFacts, keep: number): Source[] {
  const decisions = planPrune({
    entries: facts.entries,
    assignedKnown: isKnown(facts.assigned),
    assigned: recorded(facts.assigned),
    lastKnownGood: recorded(facts.lastKnownGood),
    active: viewActive(facts).source,
    effectiveText: facts.effective.text,
    keep,
  });
  return decisions.filter((decision) => decision.kept === undefined).map(({ entry }) => sourceOf(entry, facts));
}
