import { posix } from 'node:path';
import type { JsonObject, KubeletVersion } from './contract.ts';
import { valueAt } from './defaults.ts';
import { withValue } from './overlay.ts';
import { schemaFor } from './schema.ts';

/**
 * `written` with the relative paths that a kubelet of `version` resolves made absolute, against `dir`; absolute and empty ones stay.
 * @param dir - absolute directory of the file that `written` was read from
 */
export function resolvePaths(written: JsonObject, dir: string, version: KubeletVersion): JsonObject {
  let resolved = written;
  for (const { field, known, path } of schemaFor(version.minor).leaves) {
    if (field.path !== true || !known) continue;
    const value = valueAt(written, path);
    if (typeof value === 'string' && value !== '' && !posix.isAbsolute(value)) resolved = withValue(resolved, path, posix.join(dir, value));
  }
  return resolved;
}
