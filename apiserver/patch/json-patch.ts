import { isJsonObject, jsonEqual, setField } from '../../kube/api/json.ts';
import { checkDepth, checkResult, MAX_PATCH_DEPTH, PatchError } from './patch-error.ts';
import type { JsonObject } from '../../kube/api/json.ts';

export interface JsonPatchLimits {
  /** Most operations in one patch. @default 10_000 */
  operations?: number;
  /** Most characters of JSON that all `copy` operations together may add: a few of them could double an object without end. @default 3 MiB */
  copied?: number;
}

type Operation = { op: string; path: string[]; from: string[]; value: unknown; text: string };

/**
 * RFC 6902: `add`, `remove`, `replace`, `move`, `copy`, `test`, all or nothing. The target is not changed; the result may share parts with it.
 * Beyond the RFC, like the API server: removing what is not there is an error, `-` names the end of a list.
 * @throws {PatchError} `malformed` for what is no JSON patch, `inapplicable` for a failed test or a missing path; names operation and path
 */
export function applyJsonPatch(target: unknown, patch: unknown, limits: JsonPatchLimits = {}): unknown {
  const { operations = 10_000, copied = 3 * 1024 * 1024 } = limits;
  if (!Array.isArray(patch)) throw new PatchError('malformed', 'a JSON patch is a list of operations');
  if (patch.length > operations) {
    throw new PatchError('malformed', `the JSON patch has ${patch.length} operations, the limit is ${operations}`);
  }
  checkDepth(patch);
  let result = target;
  let left = copied;
  for (const [index, raw] of patch.entries()) {
    const operation = parseOperation(raw, index);
    if (operation.op === 'copy') {
      const copy = find(result, operation.from, operation.text);
      checkResult(copy);
      left -= JSON.stringify(copy).length;
      if (left < 0) throw new PatchError('inapplicable', `${operation.text}: copies add more than ${copied} characters`);
    }
    result = apply(result, operation);
  }
  checkResult(result);
  return result;
}

function apply(target: unknown, { op, path, from, value, text }: Operation): unknown {
  switch (op) {
    case 'add':
      return put(target, path, value, text);
    case 'replace':
      find(target, path, text);
      return path.length === 0 ? value : change(target, path, text, (parent, key) => overwrite(parent, key, value));
    case 'remove':
      return remove(target, path, text);
    case 'move': {
      if (from.length < path.length && from.every((part, at) => part === path[at])) {
        throw new PatchError('inapplicable', `${text}: cannot move a value into itself`);
      }
      const moved = find(target, from, text);
      return put(remove(target, from, text), path, moved, text);
    }
    case 'copy':
      return put(target, path, find(target, from, text), text);
    case 'test':
      if (!jsonEqual(find(target, path, text), value)) throw new PatchError('inapplicable', `${text}: the value differs, test failed`);
      return target;
    default:
      throw new PatchError('malformed', `${text}: unknown operation`);
  }
}

function parseOperation(raw: unknown, index: number): Operation {
  const at = `operation ${index}`;
  if (!isJsonObject(raw)) throw new PatchError('malformed', `${at} of the JSON patch is no object`);
  const { op, path, from } = raw;
  if (typeof op !== 'string') throw new PatchError('malformed', `${at} of the JSON patch has no "op"`);
  if (typeof path !== 'string') throw new PatchError('malformed', `${at} (${op}) of the JSON patch has no "path"`);
  const text = `${at} (${op} ${path})`;
  const needsFrom = op === 'move' || op === 'copy';
  if (needsFrom && typeof from !== 'string') throw new PatchError('malformed', `${text} has no "from"`);
  if ((op === 'add' || op === 'replace' || op === 'test') && !Object.hasOwn(raw, 'value'))
    throw new PatchError('malformed', `${text} has no "value"`);
  return { op, path: parsePointer(path, text), from: needsFrom ? parsePointer(String(from), text) : [], value: raw['value'], text };
}

/** RFC 6901: `/a/b~1c` names field `b/c` of `a`; '' is the whole document. */
function parsePointer(pointer: string, text: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw new PatchError('malformed', `${text}: a path starts with "/"`);
  const parts = pointer.slice(1).split('/');
  if (parts.length > MAX_PATCH_DEPTH) throw new PatchError('malformed', `${text}: the path is deeper than ${MAX_PATCH_DEPTH} levels`);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function find(target: unknown, path: readonly string[], text: string): unknown {
  let at = target;
  for (const part of path) {
    if (Array.isArray(at)) at = at[listIndex(part, at.length - 1, text)];
    else if (isJsonObject(at) && Object.hasOwn(at, part)) at = at[part];
    else throw missing(part, text);
  }
  return at;
}

function put(target: unknown, path: readonly string[], value: unknown, text: string): unknown {
  if (path.length === 0) return value;
  return change(target, path, text, (parent, key) => {
    if (!Array.isArray(parent)) return overwrite(parent, key, value);
    return parent.toSpliced(key === '-' ? parent.length : listIndex(key, parent.length, text), 0, value);
  });
}

function remove(target: unknown, path: readonly string[], text: string): unknown {
  if (path.length === 0) throw new PatchError('inapplicable', `${text}: the whole object cannot be removed`);
  return change(target, path, text, (parent, key) => {
    if (Array.isArray(parent)) return parent.toSpliced(listIndex(key, parent.length - 1, text), 1);
    if (!Object.hasOwn(parent, key)) throw missing(key, text);
    const rest = { ...parent };
    delete rest[key];
    return rest;
  });
}

/** Copies the objects along `path` and puts what `edit` makes of the last one in place. */
function change(
  target: unknown,
  [key = '', ...rest]: readonly string[],
  text: string,
  edit: (parent: unknown[] | JsonObject, key: string) => unknown,
): unknown {
  if (!Array.isArray(target) && !isJsonObject(target)) throw missing(key, text);
  if (rest.length === 0) return edit(target, key);
  return overwrite(target, key, change(find(target, [key], text), rest, text, edit));
}

function overwrite(parent: unknown[] | JsonObject, key: string, value: unknown): unknown {
  if (Array.isArray(parent)) return parent.with(Number(key), value);
  const copy = { ...parent };
  setField(copy, key, value);
  return copy;
}

function listIndex(part: string, last: number, text: string): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(part)) throw new PatchError('inapplicable', `${text}: "${part}" is no index of a list`);
  if (Number(part) > last) throw new PatchError('inapplicable', `${text}: index ${part} is beyond the list's end`);
  return Number(part);
}

function missing(part: string, text: string): PatchError {
  return new PatchError('inapplicable', `${text}: there is no "${part}"`);
}
