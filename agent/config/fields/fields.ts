import type { Field } from './field.ts';
import { nodeFields } from './node.ts';
import { podsFields } from './pods.ts';
import { resourcesFields } from './resources.ts';
import { servingFields } from './serving.ts';
import type { Json } from '../contract.ts';

/** Every leaf of KubeletConfiguration v1beta1 in any kubelet version that the table covers. */
export const fields: readonly Field[] = [...servingFields, ...nodeFields, ...resourcesFields, ...podsFields];

const MAX_KNOWN = Math.max(...fields.map(({ name }) => name.length)) + 1;

const byName = new Map(fields.map((field) => [field.name, field]));

/** The entry of a field path; a gate (`featureGates.Foo`) and a path inside a leaf (`evictionHard.memory.available`) belong to their leaf. */
export function fieldAt(path: string): Field | undefined {
  // The length is limited, since a name may have half a million dots, each with a prefix to look up.
  for (let name = path.slice(0, MAX_KNOWN); name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const found = byName.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a kubelet of this minor has the field. */
export function isKnownTo(minor: number, field: Field): boolean {
  return field.since <= Math.max(minor, 20) && (field.until === undefined || minor <= field.until);
}

/** A place in the document: a struct with members, or a leaf with its field. */
export type Place = { readonly kind: 'struct'; readonly members: ReadonlyMap<string, Place> } | Leaf;

export interface Leaf {
  readonly kind: 'leaf';
  readonly field: Field;
  readonly shape: Shape;
  /** Path split at its dots. */
  readonly path: readonly string[];
  /** An explicit zero counts, for this minor. */
  readonly pointer: boolean;
  /** Whether a kubelet of this minor has the field. */
  readonly known: boolean;
  /** Value of an absent field for this minor, undefined for none. */
  readonly default: Json | undefined;
}

export interface Schema {
  readonly minor: number;
  readonly root: ReadonlyMap<string, Place>;
  readonly leaves: readonly Leaf[];
}

const built = new Map<number, Schema>();

/** The schema of kubelets 1.`minor`; it also has the fields of other minors, with `known` false. Built once per minor. */
export function schemaFor(minor: number): Schema {
  const ready = built.get(minor);
  if (ready !== undefined) return ready;
  const root = new Map<string, Place>();
  const leaves = fields.map((field): Leaf => {
    const leaf: Leaf = {
      kind: 'leaf',
      field,
      shape: shapeOf(field, minor),
      path: field.name.split('.'),
      pointer: field.pointer === true && minor >= (field.pointerSince ?? 0),
      known: isKnownTo(minor, field),
      default: defaultOf(field, minor),
    };
    insert(root, leaf);
    return leaf;
  });
  const schema = { minor, root, leaves };
  built.set(minor, schema);
  return schema;
}

function insert(root: Map<string, Place>, leaf: Leaf): void {
  let members = root;
  for (const step of leaf.path.slice(0, -1)) {
    let next = members.get(step);
    if (next?.kind !== 'struct') {
      next = { kind: 'struct', members: new Map() };
      members.set(step, next);
    }
    members = next.members as Map<string, Place>;
  }
  members.set(leaf.path.at(-1) ?? '', leaf);
}

function defaultOf(field: Field, minor: number): Leaf['default'] {
  const since = Object.keys(field.default ?? {})
    .map(Number)
    .filter((from) => from <= minor)
    .sort((a, b) => b - a)[0];
  return since === undefined ? undefined : (field.default?.[since] ?? undefined);
}

/** The JSON that the kubelet's decoder accepts for a value. */
export type Shape =
  | { readonly is: 'bool' | 'string' | 'int32' | 'int64' | 'uint32' | 'float64' | 'duration' | 'nanoseconds' | 'quantity' | 'time' }
  | { readonly is: 'list' | 'map'; readonly of: Shape }
  /** `always`: the members that the kubelet prints even when zero. */
  | { readonly is: 'struct'; readonly members: ReadonlyMap<string, Shape>; readonly always: readonly string[] };

const text: Shape = { is: 'string' };
const list = (of: Shape): Shape => ({ is: 'list', of });
const map = (of: Shape): Shape => ({ is: 'map', of });
const struct = (members: Readonly<Record<string, Shape>>, always: readonly string[] = []): Shape => ({
  is: 'struct',
  members: new Map(Object.entries(members)),
  always,
});

const logOptions = struct({ splitStream: { is: 'bool' }, infoBufferSize: { is: 'quantity' } });

/** Shapes of leaves that are objects or lists of objects, by name: their type text is not enough. */
const objects: Readonly<Record<string, Shape>> = {
  'logging.vmodule': list(struct({ filePattern: text, verbosity: { is: 'uint32' } }, ['filePattern', 'verbosity'])),
  'logging.options': struct({ text: logOptions, json: logOptions }),
  shutdownGracePeriodByPodPriority: list(
    struct({ priority: { is: 'int32' }, shutdownGracePeriodSeconds: { is: 'int64' } }, ['priority', 'shutdownGracePeriodSeconds']),
  ),
  reservedMemory: list(struct({ numaNode: { is: 'int32' }, limits: map({ is: 'quantity' }) }, ['numaNode', 'limits'])),
  registerWithTaints: list(struct({ key: text, value: text, effect: text, timeAdded: { is: 'time' } }, ['key', 'effect'])),
  tracing: struct({ endpoint: text, samplingRatePerMillion: { is: 'int32' } }),
};

/** Types that are plain strings, numbers or booleans for the decoder. */
const plain: Readonly<Record<string, Shape['is']>> = {
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  uint32: 'uint32',
  float64: 'float64',
  duration: 'duration',
};

/**
 * The shape of a field's value for kubelets of `minor`.
 * Quantities and durations inside of maps are plain strings for the decoder: the kubelet parses them only at its start.
 */
export function shapeOf(field: Field, minor: number): Shape {
  const object = objects[field.name];
  if (object !== undefined) return object;
  // An integer of nanoseconds until 1.25, then either that or a duration.
  if (field.name === 'logging.flushFrequency') return { is: minor < 26 ? 'int64' : 'nanoseconds' };
  const { type } = field;
  if (type === 'map<string,bool>') return map({ is: 'bool' });
  if (type === 'map<string,list<string>>') return map(list(text));
  if (type === 'list<int32>') return list({ is: 'int32' });
  if (type.startsWith('map<')) return map(text);
  if (type.startsWith('list<')) return list(text);
  return { is: plain[type] ?? 'string' } as Shape;
}
