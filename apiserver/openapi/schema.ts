/**
 * A field or object: what the OpenAPI document says of it, and what decoding holds it to. Objects with `fields` have no others;
 * objects without `fields` and `values` take anything.
 */
export interface Schema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'number' | 'quantity' | 'intOrText' | 'ref';
  description: string;
  format?: string;
  required?: readonly string[];
  fields?: Readonly<Record<string, Schema>>;
  /** Of an array. */
  items?: Schema;
  /** Values of a map. */
  values?: Schema;
  /** Name of a shared definition, for `ref`. */
  ref?: string;
  merge?: ListMerge;
  /** Of an object that is defined once and referred to: `core.v1.Container`. */
  name?: string;
  /**
   * What becomes of 0, false, '' and what is empty or absent: kept as it came, written even when absent, or dropped.
   * @default texts, lists and maps are dropped unless they are required, all else is kept
   */
  zero?: 'kept' | 'written' | 'dropped';
  /** Release 1.N that has it first. @default all */
  since?: number;
  /** Last release 1.N that writes it when it is absent. */
  writtenUntil?: number;
}

export const text = (description: string): Schema => ({ type: 'string', description });
export const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
/** A number or text on the way in, text from then on. */
export const quantityMap = (description: string): Schema => ({
  type: 'object',
  description,
  values: { type: 'quantity', description: '' },
});
export const flag = (description: string): Schema => ({ type: 'boolean', description });
export const int32 = (description: string): Schema => ({ type: 'integer', format: 'int32', description });
export const int64 = (description: string): Schema => ({ type: 'integer', format: 'int64', description });
export const anything = (description: string): Schema => ({ type: 'object', description });
export const textMap = (description: string): Schema => ({ type: 'object', description, values: { type: 'string', description: '' } });
export const list = (description: string, items: Schema, merge?: ListMerge): Schema => ({
  type: 'array',
  description,
  items,
  ...(merge ? { merge } : {}),
});
export const ref = (name: string, description: string): Schema => ({ type: 'ref', ref: name, description });

export function object(description: string, fields: Readonly<Record<string, Schema>>, required?: readonly string[]): Schema {
  return { type: 'object', description, fields, ...(required ? { required } : {}) };
}

/** How a strategic merge patch treats a list: by the key of its items, or as a set of plain values. */
export type ListMerge = { by: string } | { as: 'set' };
