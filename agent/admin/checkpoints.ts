import type { AdminFacts } from './facts.ts';
import { condemnationOf, isRefused, rolesOf, sourceOf, type Role } from './roles.ts';
import type { CheckpointEntry } from '../store/store.ts';
import type { FileDigest } from '../checkpoint/payload.ts';
import type { Source } from '../checkpoint/source.ts';

/** One element of `dkc checkpoints list -o json`. */
export interface CheckpointRow {
  source: Source;
  /** Of all files together; 0 when the manifest is unreadable. */
  bytes: number;
  files: readonly FileDigest[];
  roles: readonly Role[];
  state: 'intact' | 'damaged' | 'condemned' | 'refused';
  /** RFC 3339; null when the manifest is unreadable. */
  savedAt: string | null;
}

/** Newest first, as the store lists them. */
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

/** Damage outweighs condemnation: a damaged checkpoint is downloaded again first. */
function stateOf(entry: CheckpointEntry, facts: AdminFacts): CheckpointRow['state'] {
  if (entry.state === 'damaged') return 'damaged';
  if (condemnationOf(entry, facts.condemned)) return 'condemned';
  return isRefused(entry, facts) ? 'refused' : 'intact';
}
