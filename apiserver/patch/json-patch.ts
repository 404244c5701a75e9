import { isDeeperThan, isJsonObject, jsonEqual, type JsonObject, ownField, setField } from '../../kube/api/json.ts';

/**
 * A patch that cannot be applied. `malformed`: it applies to no object (400);
 * `inapplicable`: it does not apply to this object (a failed test, a missing path; 422).
 */
export class PatchError extends Error {
  override name = 'PatchError';
  readonly problem: 'malformed' | 'inapplicable';
  constructor(problem: 'malformed' | 'inapplicable', message: string) {
    super(message);
    this.problem = problem;
  }
}

/** Deeper patches are rejected: each level costs a stack frame, and no Kubernetes object is nearly as deep. */
const MAX_PATCH_DEPTH = 500;

/** Maximum depth of a result: repeated patches, or the operations of one, can nest an object deeper and deeper. */
const MAX_RESULT_DEPTH = 1_000;

/** @throws {PatchError} if the result of a patch is nested deeper than {@link MAX_RESULT_DEPTH} levels */
function checkResult(result: unknown): void {
  if (isDeeperThan(result, MAX_RESULT_DEPTH))
    throw new PatchError('inapplicable', `the patched object is nested deeper than ${MAX_RESULT_DEPTH} levels`);
}

/** @throws {PatchError} if `patch` is nested deeper than {@link MAX_PATCH_DEPTH} levels */
export function checkDepth(patch: unknown): void {
  if (isDeeperThan(patch, MAX_PATCH_DEPTH)) throw new PatchError('malformed', `the patch is nested deeper than ${MAX_PATCH_DEPTH} levels`);
}

/**
 * RFC 7386: fields of `patch` replace those of `target`, null removes, objects merge, everything else (lists too) is replaced whole.
 * Neither argument is changed; the result may share parts with both.
 * @throws {PatchError} if the patch is nested too deeply
 */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  checkDepth(patch);
  return merge(target, patch);
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: JsonObject = isJsonObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else if (value !== undefined) setField(result, key, merge(ownField(result, key), value));
  }
  return result;
}

export interface JsonPatchLimits {
  /** Maximum number of operations in one patch. @default 10_000 */
  operations?: number;
  /** Maximum number of JSON characters that all `copy` operations together may add: each copy can double the object. @default 3 MiB */
  copied?: number;
}

type Container = unknown[] | JsonObject;
type Operation = { op: string; path: string[]; from: string[]; value: unknown; text: string };

/**
 * RFC 6902: `add`, `remove`, `replace`, `move`, `copy`, `test`, all or nothing. The target is not changed; the result may share parts with it.
 * Beyond the RFC, like the API server: removing a missing value is an error, `-` is the end of a list.
 * @throws {PatchError} `malformed` for an invalid JSON patch, `inapplicable` for a failed test or a missing path; names operation and path
 */
export function applyJsonPatch(target: unknown, patch: unknown, limits: JsonPatchLimits = {}): unknown {
  const { operations = 10_000, copied = 3 * 1024 * 1024 } = limits;
  if (!Array.isArray(patch)) throw new PatchError('malformed', 'a JSON patch is a list of operations');
  if (patch.length > operations) {
    throw new PatchError('malformed', `the JSON patch has ${patch.length} operations, the limit is ${operations}`);
  }
  checkDepth(patch);
  const draft = new Draft(target);
  let left = copied;
  for (const [index, raw] of patch.entries()) {
    const operation = parseOperation(raw, index);
    if (operation.op === 'copy') left -= draft.copy(operation, left, copied);
    else draft.apply(operation);
  }
  checkResult(draft.document);
  return draft.document;
}

/**
 * The document during one patch. A list or object is copied before its first change, and then changed in place: the target is unchanged, and
 * 10,000 operations on a long list do not copy it 10,000 times.
 */
class Draft {
  document: unknown;
  readonly #copies = new WeakSet<object>();

  constructor(target: unknown) {
    this.document = target;
  }

  apply({ op, path, from, value, text }: Operation): void {
    switch (op) {
      case 'add':
        return this.#put(path, value, text);
      case 'replace':
        this.#find(path, text);
        return this.#overwrite(path, value, text);
      case 'remove':
        return this.#remove(path, text);
      case 'move': {
        if (from.length < path.length && from.every((part, at) => part === path[at])) {
          throw new PatchError('inapplicable', `${text}: cannot move a value into itself`);
        }
        const moved = this.#find(from, text);
        this.#remove(from, text);
        return this.#put(path, moved, text);
      }
      case 'test':
        if (!jsonEqual(this.#find(path, text), value)) throw new PatchError('inapplicable', `${text}: the value differs, test failed`);
        return;
      default:
        throw new PatchError('malformed', `${text}: unknown operation`);
    }
  }

  /** @param left - characters of JSON that may still be added, of `all` @returns characters that were added */
  copy({ path, from, text }: Operation, left: number, all: number): number {
    const found = this.#find(from, text);
    checkResult(found);
    const json = JSON.stringify(found);
    if (json.length > left) throw new PatchError('inapplicable', `${text}: copies add more than ${all} characters`);
    // A deep copy: later changes of one must not change the other.
    this.#put(path, JSON.parse(json), text);
    return json.length;
  }

  #find(path: readonly string[], text: string): unknown {
    return path.reduce<unknown>((at, part) => child(at, part, text), this.document);
  }

  #put(path: readonly string[], value: unknown, text: string): void {
    const key = path.at(-1);
    const parent = key === undefined ? undefined : this.#parent(path, text);
    if (key !== undefined && Array.isArray(parent)) {
      parent.splice(key === '-' ? parent.length : listIndex(key, parent.length, text), 0, value);
    } else this.#overwrite(path, value, text);
  }

  #overwrite(path: readonly string[], value: unknown, text: string): void {
    const key = path.at(-1);
    if (key === undefined) this.document = value;
    else setChild(this.#parent(path, text), key, value);
  }

  #remove(path: readonly string[], text: string): void {
    const key = path.at(-1);
    if (key === undefined) throw new PatchError('inapplicable', `${text}: the whole object cannot be removed`);
    const parent = this.#parent(path, text);
    if (Array.isArray(parent)) parent.splice(listIndex(key, parent.length - 1, text), 1);
    else if (Object.hasOwn(parent, key)) delete parent[key];
    else throw missing(key, text);
  }

  /** The container of the last step of `path`, copied so that it can be changed. */
  #parent(path: readonly string[], text: string): Container {
    let at = (this.document = this.#own(this.document, path[0], text));
    for (const [depth, part] of path.slice(0, -1).entries()) {
      const inner = this.#own(child(at, part, text), path[depth + 1], text);
      setChild(at, part, inner);
      at = inner;
    }
    return at;
  }

  #own(value: unknown, key = '', text: string): Container {
    if (!Array.isArray(value) && !isJsonObject(value)) throw missing(key, text);
    if (this.#copies.has(value)) return value;
    const copy: Container = Array.isArray(value) ? [...(value as unknown[])] : { ...value };
    this.#copies.add(copy);
    return copy;
  }
}

function parseOperation(raw: unknown, index: number): Operation {
  const at = `operation ${index}`;
  if (!isJsonObject(raw)) throw new PatchError('malformed', `${at} of the JSON patch is not an object`);
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

function child(at: unknown, part: string, text: string): unknown {
  if (Array.isArray(at)) return at[listIndex(part, at.length - 1, text)];
  if (isJsonObject(at) && Object.hasOwn(at, part)) return at[part];
  throw missing(part, text);
}

function setChild(parent: Container, key: string, value: unknown): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else setField(parent, key, value);
}

function listIndex(part: string, last: number, text: string): number {
  if (!/^(0|[1-9]\d{0,8})$/.test(part)) throw new PatchError('inapplicable', `${text}: "${part}" is not an index of a list`);
  if (Number(part) > last) throw new PatchError('inapplicable', `${text}: index ${part} is beyond the list's end`);
  return Number(part);
}

function missing(part: string, text: string): PatchError {
  return new PatchError('inapplicable', `${text}: there is no "${part}"`);
}
