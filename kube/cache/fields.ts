import type { KubeObject, Resource } from '../api/object.ts';
import { markLarge, type StringPool } from './sharing.ts';

/**
 * What a reader needs of a kind: paths such as `spec.nodeName`, `spec.containers.resources.requests`, `metadata.annotations`. A path takes everything
 * below it; lists are walked through. Every reader also gets what caches cannot do without: name, namespace, uid, resourceVersion, deletion,
 * owners, and labels, since without them nobody knows whom an object belongs to. `all`: the whole object but `metadata.managedFields`.
 */
export type Fields = readonly string[] | 'all';

/** What all readers of one cache need together. */
export function unite(wanted: readonly Fields[]): Fields {
  return wanted.includes('all') ? 'all' : [...new Set(wanted.flat())].toSorted();
}

const always = ['name', 'namespace', 'uid', 'resourceVersion', 'deletionTimestamp', 'ownerReferences', 'generation', 'labels'].map(
  (field) => `metadata.${field}`,
);
// Different in each object: a pool would only grow by them.
const unique: ReadonlySet<string> = new Set(['name', 'uid', 'resourceVersion', 'managedFields']);

/** Servers take JSON that is nested 10,000 deep, more than our stack does: below this, values are kept as they came. */
const MAX_DEPTH = 100;
/**
 * Values of one object that are looked at: ordinary pods have a few hundred. An object of 1.5 MB may have half a million, and walking through them would
 * keep everything else in the process waiting; those beyond are kept as they came.
 */
const MAX_VALUES = 20_000;

/** How many more values of an object may be looked at. */
interface Budget {
  left: number;
}

/** Fields to take: with a subtree, or (null) with everything below. */
type Tree = ReadonlyMap<string, Tree> | null;

/** Turns objects as they came into what the cache keeps: only the fields wanted, with one copy of each repeated string. */
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
    const body = tree === null ? whole(rest, pool, budget) : picked(rest, tree, pool, budget);
    // Items of a list come without the first two, events of a watch with them.
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
  return tree === null ? whole(value, pool, budget, depth) : picked(value, tree, pool, budget, depth);
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

function whole(value: unknown, pool: StringPool, budget: Budget, depth = 0): unknown {
  budget.left -= 1;
  if (typeof value === 'string') return pool.one(value);
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH || budget.left < 0) return value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      items.push(whole(item, pool, budget, depth + 1));
      if (budget.left < 0) return markLarge(value);
    }
    return items;
  }
  const from = value as Record<string, unknown>;
  const kept: Record<string, unknown> = {};
  for (const field in from) {
    set(kept, pool.one(field), whole(from[field], pool, budget, depth + 1));
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
  // Short paths first: a path that takes a whole object takes its parts too.
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
