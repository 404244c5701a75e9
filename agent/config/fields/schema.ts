import type { Json } from '../contract.ts';
import type { Field } from './field.ts';
import { fields, knows } from './fields.ts';
import { type Shape, shapeOf } from './shape.ts';

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
  /** A kubelet of this minor knows it. */
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

/** The document as kubelets 1.`minor` see it; fields of other minors are in it too, marked as not known. Built once per minor. */
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
      known: knows(minor, field),
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
  return since === undefined ? undefined : field.default?.[since];
}
