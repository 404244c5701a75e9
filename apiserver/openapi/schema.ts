/**
 * A field or object: its part of the OpenAPI document, and the type that decoding checks. Objects with `fields` have no other fields;
 * objects without `fields` and `values` accept anything.
 */
export interface Schema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean' | 'number' | 'quantity' | 'intOrText' | 'ref';
  description: string;
  format?: string;
  required?: readonly string[];
  fields?: Readonly<Record<string, Schema>>;
  /** Items of an array. */
  items?: Schema;
  /** Values of a map. */
  values?: Schema;
  /** Name of a shared definition, for `ref`. */
  ref?: string;
  merge?: ListMerge;
  /** Name of an object that is defined once and referenced: `core.v1.Container`. */
  name?: string;
  /**
   * Handling of 0, false, '', empty and absent values: kept unchanged, written even if absent, or dropped.
   * @default strings, lists and maps are dropped unless they are required, other values are kept
   */
  zero?: 'kept' | 'written' | 'dropped';
  /** First release 1.N that has it. @default all */
  since?: number;
  /** Last release 1.N that writes it if absent. */
  writtenUntil?: number;
}

export const text = (description: string): Schema => ({ type: 'string', description });
export const time = (description: string): Schema => ({ type: 'string', format: 'date-time', description });
/** Accepts numbers and strings, stores strings. */
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

/*
 * API types as tables. A type is a line `GROUP.VERSION.Name`, followed by its fields, indented and separated by `;`:
 *
 *   core.v1.Container
 *     name! text; image text; command [text]; ports [ContainerPort] by containerPort; resources+ ResourceRequirements; restartPolicy* text @29
 *
 * After the name: `!` required, and written even if zero; `+` written even if absent (`+33` up to release 1.33); `*` kept if
 * zero; nothing: omitted if zero. `@29`: since release 1.29. `by FIELD`, `set`: how a strategic merge patch merges the list.
 */

export type Types = ReadonlyMap<string, Schema>;

const plain: Readonly<Record<string, Omit<Schema, 'description'>>> = {
  text: { type: 'string' },
  flag: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  number: { type: 'number' },
  time: { type: 'string', format: 'date-time' },
  quantity: { type: 'quantity' },
  intOrText: { type: 'intOrText' },
  any: { type: 'object' },
};

/** Parses tables; types may refer to each other in any order. @throws {Error} for a syntax error or an undefined name */
export function parseTypes(...tables: readonly string[]): Types {
  const lines = tables.join('\n').split('\n');
  const texts = new Map<string, { full: string; fields: string }>();
  let current: { full: string; fields: string } | undefined;
  for (const line of lines) {
    if (line.trim() === '') continue;
    if (line.startsWith(' ')) {
      if (current === undefined) throw new Error(`fields without a type: ${line.trim()}`);
      current.fields += ` ${line.trim()}`;
    } else {
      current = { full: line.trim(), fields: '' };
      texts.set(shortName(current.full), current);
    }
  }
  const types = new Map<string, Schema>();
  const build = (name: string): Schema => {
    const known = types.get(name);
    if (known !== undefined) return known;
    const text = texts.get(name);
    if (text === undefined) throw new Error(`no type ${name}`);
    const fields: Record<string, Schema> = {};
    const required: string[] = [];
    for (const entry of text.fields.split(';')) {
      if (entry.trim() === '') continue;
      const field = parseField(entry.trim(), build);
      fields[field.name] = field.schema;
      if (field.required) required.push(field.name);
    }
    const type: Schema = {
      type: 'object',
      description: '',
      name: text.full,
      fields,
      ...(required.length === 0 ? {} : { required }),
    };
    types.set(name, type);
    return type;
  };
  for (const name of texts.keys()) build(name);
  return types;
}

function shortName(full: string): string {
  return full.slice(full.lastIndexOf('.') + 1);
}

const FIELD = /^(\w+)(!\*|!|\+\d*|\*)? (\S+)((?: (?:by \w+|set|@\d+))*)$/;

function parseField(entry: string, build: (name: string) => Schema): { name: string; schema: Schema; required: boolean } {
  const [, name = '', mark = '', type = '', rest = ''] = FIELD.exec(entry) ?? [];
  if (name === '') throw new Error(`no field: ${entry}`);
  const since = / @(\d+)/.exec(rest)?.[1];
  const by = / by (\w+)/.exec(rest)?.[1];
  const merge: ListMerge | undefined = by !== undefined ? { by } : / set/.test(rest) ? { as: 'set' } : undefined;
  const until = /^\+(\d+)$/.exec(mark)?.[1];
  const zero = mark === '!' || mark.startsWith('+') ? 'written' : mark === '' ? 'dropped' : 'kept';
  const schema: Schema = {
    ...typeOf(type, build),
    zero,
    ...(merge === undefined ? {} : { merge }),
    ...(since === undefined ? {} : { since: Number(since) }),
    ...(until === undefined ? {} : { writtenUntil: Number(until) }),
  };
  return { name, schema, required: mark.startsWith('!') };
}

function typeOf(type: string, build: (name: string) => Schema): Schema {
  const [first] = type;
  if (first === '[') return { type: 'array', description: '', items: typeOf(type.slice(1, -1), build) };
  if (first === '{') return { type: 'object', description: '', values: typeOf(type.slice(1, -1), build) };
  const known = Object.hasOwn(plain, type) ? plain[type] : undefined;
  return known === undefined ? build(type) : { description: '', ...known };
}

/** The part of a schema that release 1.`minor` has. Parts shared by two schemas stay shared. */
export function schemaAt(schema: Schema, minor: number, done = new Map<Schema, Schema>()): Schema {
  const known = done.get(schema);
  if (known !== undefined) return known;
  const { fields, items, values } = schema;
  const inner = (one: Schema) => schemaAt(one, minor, done);
  const there = fields === undefined ? undefined : Object.entries(fields).filter(([, { since = 0 }]) => since <= minor);
  const made: Schema = {
    ...schema,
    ...(there === undefined ? {} : { fields: Object.fromEntries(there.map(([name, field]) => [name, inner(field)])) }),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(values === undefined ? {} : { values: inner(values) }),
    ...(schema.writtenUntil !== undefined && schema.writtenUntil < minor ? { zero: 'dropped' as const } : {}),
  };
  done.set(schema, made);
  return made;
}
