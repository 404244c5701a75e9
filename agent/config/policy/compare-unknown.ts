import { compareConfigs, type Difference } from './compare.ts';
import type { JsonObject, KubeletVersion } from '../contract.ts';
import { fieldsNotInTable } from '../decode/decode.ts';
import { fieldAt } from '../fields/fields.ts';
import { NEWEST_MINOR } from '../version.ts';

/**
 * Where two configurations differ in what filling in defaults drops, and a kubelet may know nevertheless: one that is newer than the
 * table is judged as the newest in it. Older kubelets are known whole, and ignore what is not theirs: nothing is found for them.
 * Members that the table does not have count as dangerous; inside of a field that it has, that field counts so.
 * @param a, b - as written
 */
export function compareUnknown(a: JsonObject, b: JsonObject, version: KubeletVersion): Difference[] {
  if (version.minor < NEWEST_MINOR) return [];
  const partly = new Set([a, b].flatMap((config) => fieldsNotInTable(config, version)).map((path) => fieldAt(path.replace(/\[.*/s, ''))));
  return compareConfigs(a, b).flatMap((difference) => {
    const known = fieldAt(difference.field);
    if (partly.has(known)) return [{ ...difference, class: 'dangerous' }];
    return known === undefined || known.since > version.minor ? [difference] : [];
  });
}
