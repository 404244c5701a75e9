import { posix } from 'node:path';
import type { JsonObject, KubeletVersion } from './contract.ts';
import { valueAt } from './defaults.ts';
import { withValues } from './overlay.ts';
import { schemaFor } from './fields/schema.ts';

/**
 * `written` with the relative paths that a kubelet of `version` resolves made absolute, against `dir`; absolute and empty ones stay.
 * @param dir - absolute directory of the file that `written` was read from
 */
export function resolvePaths(written: JsonObject, dir: string, version: KubeletVersion): JsonObject {
  const absolute = schemaFor(version.minor).leaves.flatMap(({ field, known, path }) => {
    if (field.path !== true || !known) return [];
    const value = valueAt(written, path);
    return typeof value === 'string' && value !== '' && !posix.isAbsolute(value) ? [{ path, value: posix.join(dir, value) }] : [];
  });
  return absolute.length === 0 ? written : withValues(written, absolute);
}
