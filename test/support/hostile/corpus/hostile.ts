import type { KubeObject, Resource } from '../../../../kube/api/object.ts';

/** Which servers there are: ours, and kube-apiserver 1.20. */
export type Server = 'embedded' | 'real';

/** One row of the corpus: what a user, a node or an operator may write, and should not. */
export interface Hostile {
  why: string;
  resource: Resource;
  /** The objects, made one by one: there may be thousands. Of the namespace `hostile`, where their kind lives in one. */
  objects: (server: Server) => Iterable<KubeObject>;
  /** Servers that take none of them. @default none: all of them take some */
  refusedBy?: readonly Server[];
}

export const NAMESPACE = 'hostile';

export const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
export const record = <T>(count: number, make: (at: number) => [string, T]): Record<string, T> => Object.fromEntries(many(count, make));

/** Objects within each other. */
export function nested(depth: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let at = 0; at < depth; at++) value = { a: value };
  return value;
}

/** What Go writes as six bytes each: 1.4 MB here, 8.4 MB on the wire. */
export const marks = '<'.repeat(1_400_000);

/** A name that looks like another one, or like none. */
export const invisible = '\u200b\u2060\ufeff';

/** A pod that nobody schedules, so that thousands of them are work for controllers alone. */
export const nobodys = { schedulerName: 'nobody' } as const;

export const container = (more: object = {}): object => ({ name: 'c', image: 'i', ...more });

export function named(name: string, apiVersion: string, kind: string, rest: object, metadata: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name, ...metadata }, ...rest };
}

let count = 0;

/** A name that no other row has. */
export const unique = (prefix: string): string => `${prefix}-${++count}`;

/** `k-0: v` and so on: labels, or anything of the kind. */
export const pairs = (count: number): Record<string, string> => record(count, (at) => [`k-${at}`, 'v']);

/** Expressions of a selector, each about another key. */
export const expressions = (count: number, operator = 'DoesNotExist'): object[] => many(count, (at) => ({ key: `k-${at}`, operator }));

interface Fields {
  metadata?: object | undefined;
  [field: string]: unknown;
}

interface RowOptions extends Pick<Hostile, 'refusedBy'> {
  /** @default 1 */
  count?: number;
  /** Of several, the nth is `NAME-N`. @default one that no other row has */
  name?: string;
}

/** A row of objects of one kind. @param fields - of the nth of them */
export function row(
  resource: Resource,
  why: string,
  fields: (at: number) => Fields,
  { count = 1, name = unique('hostile'), ...more }: RowOptions = {},
): Hostile {
  const apiVersion = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
  const make = (at: number): KubeObject => {
    const { metadata, ...rest } = fields(at);
    return named(count === 1 ? name : `${name}-${at}`, apiVersion, resource.kind, rest, metadata);
  };
  return { why, resource, objects: () => many(count, make), ...more };
}
