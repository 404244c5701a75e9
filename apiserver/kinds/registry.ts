import { schemaAt } from '../openapi/notation.ts';
import type { Schema } from '../openapi/schema.ts';
import { configMaps } from './config-maps.ts';
import { events } from './events.ts';
import { leases } from './leases.ts';
import type { Kind, ServedKind } from './kind.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { pods } from './pods.ts';
import { secrets } from './secrets.ts';
import { serviceAccounts } from './service-accounts.ts';

/** Without a release in mind, everything is there. */
const LATEST = 99;

/** Every kind the server has, in the order discovery lists them. */
export const builtInKinds: readonly Kind[] = [configMaps, events, namespaces, nodes, pods, secrets, serviceAccounts, leases];

/** The kinds of one server, by the paths they are served at. */
export class Registry {
  readonly kinds: readonly Kind[];
  /** N of the release 1.N that the server is of. */
  readonly release: number;
  readonly #served = new Map<string, ServedKind>();

  /** @param release - N of 1.N: versions and fields of other releases are not there */
  constructor(kinds: readonly Kind[], release = LATEST) {
    this.release = release;
    const done = new Map<Schema, Schema>();
    this.kinds = kinds.flatMap((kind) => kindAt(kind, release, done));
    for (const kind of this.kinds) {
      for (const at of kind.served) this.#served.set(path(at.group, at.version, kind.resource), { kind, at });
    }
  }

  find(group: string, version: string, resource: string): ServedKind | undefined {
    return this.#served.get(path(group, version, resource));
  }

  /** Groups and their versions, the core group first. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const groups = new Map<string, string[]>([['', []]]);
    for (const { at } of this.#served.values()) {
      const versions = groups.get(at.group) ?? [];
      if (!versions.includes(at.version)) versions.push(at.version);
      groups.set(at.group, versions);
    }
    return groups;
  }

  /** What is served under one group and version. */
  under(group: string, version: string): ServedKind[] {
    return [...this.#served.values()].filter(({ at }) => at.group === group && at.version === version);
  }

  all(): ServedKind[] {
    return [...this.#served.values()];
  }
}

/** A kind as a release has it; none where that has no version of it. */
function kindAt(kind: Kind, release: number, done: Map<Schema, Schema>): Kind[] {
  const [first, ...more] = kind.served
    .filter(({ since = 0, until = release }) => since <= release && release <= until)
    .map((at) => (at.schema === undefined ? at : { ...at, schema: schemaAt(at.schema, release, done) }));
  return first === undefined ? [] : [{ ...kind, served: [first, ...more], schema: schemaAt(kind.schema, release, done) }];
}

function path(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
