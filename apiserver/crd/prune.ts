import { isJsonObject, setField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import { EMBEDDED, fieldNode, nodeOf, PRESERVES, propertiesOf } from './node.ts';
import type { Node } from './node.ts';

const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/**
 * `value` as the server keeps it: without fields the schema does not know, without nulls that it does not allow, and with its defaults.
 * @param isRoot - or embedded: `apiVersion`, `kind` and `metadata` are there without being written in the schema
 */
export function prunedAndDefaulted(value: unknown, node: Node, isRoot: boolean): unknown {
  if (Array.isArray(value)) {
    const items = nodeOf(node['items']);
    return items === undefined ? value : value.map((item: unknown) => prunedAndDefaulted(item, items, items[EMBEDDED] === true));
  }
  if (!isJsonObject(value)) return value;
  const kept: JsonObject = {};
  const takesAll = node[PRESERVES] === true || node['additionalProperties'] === true;
  for (const [name, field] of Object.entries(value)) {
    const child = fieldNode(node, name);
    if (isRoot && typeFields.has(name)) setField(kept, name, field);
    else if (child === undefined) {
      if (takesAll) setField(kept, name, field);
    } else if (field !== null || child['nullable'] === true)
      setField(kept, name, prunedAndDefaulted(field, child, child[EMBEDDED] === true));
  }
  for (const [name, child] of propertiesOf(node)) {
    if (!Object.hasOwn(child, 'default') || Object.hasOwn(kept, name)) continue;
    setField(kept, name, prunedAndDefaulted(structuredClone(child['default']), child, child[EMBEDDED] === true));
  }
  return kept;
}
