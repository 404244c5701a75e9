import type { KubeObject, Resource } from '../api/object.ts';
import { markLarge, type StringPool } from './sharing.ts';

/**
 * The fields that a reader needs of a kind: paths such as `spec.nodeName`, `spec.containers.resources.requests`, `metadata.annotations`. A path includes
 * everything below it, in each item of a list. Every reader also gets what caches and ownership depend on: name, namespace, uid, resourceVersion,
 * deletionTimestamp, ownerReferences, generation and labels. `all`: the whole object without `metadata.managedFields`.
 */
export type Fields = readonly string[] | 'all';

/** The union of the fields that the readers of one cache need. */
export function unite(wanted: readonly Fields[]): Fields {
  return wanted.includes('all') ? 'all' : [...new Set(wanted.flat())].toSorted();
}

const always = ['name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp', 'ownerReferences', 'generation', 'labels'].map(
  (field) => `metadata.${field}`,
);
// Unique to each object: pooling these values would only grow the pool.
const unique: ReadonlySet<string> = new Set(['name', 'uid', 'resourceVersion', 'managedFields']);

/** Servers accept JSON nested 10,000 deep, more than the stack of this process allows: values below this depth are kept unpruned. */
const MAX_DEPTH = 100;
/**
 * Values of one object that are visited: ordinary pods have a few hundred. An object of 1.5 MB may have half a million, and visiting them all would block the
 * process; values beyond this number are kept unpruned.
 */
const MAX_VALUES = 20_000;

/** How many more values of an object may be visited. */
interface Budget {
  left: number;
}

/** Fields to keep: each with a subtree, or null for everything below it. */
type Tree = ReadonlyMap<string, Tree> | null;

/** Turns a received object into the one that the cache keeps: only the needed fields, with one copy of each repeated string. */
export type Prune = <T extends KubeObject>(object: T) => T;

/** @throws {RangeError} for a path with an empty part */
export function pruner(resource: Resource, fields: Fields, pool: StringPool): Prune {
  const tree = fields === 'all' ? null : treeOf([...always, ...fields]);
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  const { kind } = resource;
  return <T extends KubeObject>(object: T): T => {
    const { metadata, ...rest } = object;
    const { managedFields: _, ...meta } = metadata;
    const budget: Budget = { left: MAX_VALUES };
    const keptMeta = metadataOf(meta, tree?.get('metadata') ?? null, pool, budget);
    const body = tree === null ? copied(rest, pool, budget) : picked(rest, tree, pool, budget);
    // List items arrive without apiVersion and kind, watch events with them.
    return { apiVersion, kind, metadata: keptMeta, ...without(body) } as unknown as T;
  };
}

function without(body: unknown): Record<string, unknown> {
  const { apiVersion: _version, kind: _kind, ...rest } = body as Record<string, unknown>;
  return rest;
}

function metadataOf(metadata: Record<string, unknown>, tree: Tree, pool: StringPool, budget: Budget): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const field in metadata) {
    if (tree !== null && !tree.has(field)) continue;
    const value = metadata[field];
    kept[field] = unique.has(field) ? value : pick(value, tree?.get(field) ?? null, pool, budget);
  }
  return kept;
}

function pick(value: unknown, tree: Tree, pool: StringPool, budget: Budget, depth = 0): unknown {
  return tree === null ? copied(value, pool, budget, depth) : picked(value, tree, pool, budget, depth);
}

function picked(value: unknown, tree: ReadonlyMap<string, Tree>, pool: StringPool, budget: Budget, depth = 0): unknown {
  budget.left -= 1;
  if (depth > MAX_DEPTH || budget.left < 0) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      items.push(picked(item, tree, pool, budget, depth + 1));
      if (budget.left < 0) return markLarge(value);
    }
    return items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const from = value as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const [field, below] of tree) if (Object.hasOwn(from, field)) kept[field] = pick(from[field], below, pool, budget, depth + 1);
  return kept;
}

function copied(value: unknown, pool: StringPool, budget: Budget, depth = 0): unknown {
  budget.left -= 1;
  if (typeof value === 'string') return pool.one(value);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || budget.left < 0) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      items.push(copied(item, pool, budget, depth + 1));
      if (budget.left < 0) return markLarge(value);
    }
    return items;
  }
  const from = value as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const field in from) {
    set(kept, pool.one(field), copied(from[field], pool, budget, depth + 1));
    if (budget.left < 0) return markLarge(value);
  }
  return kept;
}

/** A field may be called `__proto__`: data from the network must not become an object's prototype. */
function set(object: Record<string, unknown>, field: string, value: unknown): void {
  if (field === '__proto__') Object.defineProperty(object, field, { value, enumerable: true, writable: true, configurable: true });
  else object[field] = value;
}

function treeOf(paths: readonly string[]): ReadonlyMap<string, Tree> {
  const root = new Map<string, Tree>();
  // Short paths first: a path to a whole object includes its parts.
  for (const path of paths.toSorted((a, b) => a.length - b.length)) {
    const parts = path.split('.');
    if (parts.includes('')) throw new RangeError(`the path ${JSON.stringify(path)} has an empty part`);
    let at = root;
    for (const [index, part] of parts.entries()) {
      const there = at.get(part);
      if (there === null) break;
      if (index === parts.length - 1) {
        at.set(part, null);
        break;
      }
      const below = there === undefined ? new Map<string, Tree>() : (there as Map<string, Tree>);
      at.set(part, below);
      at = below;
    }
  }
  return root;
}
