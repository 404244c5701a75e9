import { schemaAt } from '../openapi/notation.ts';
import type { Schema } from '../openapi/schema.ts';
import { configMaps } from './config-maps.ts';
import { events } from './events.ts';
import { leases } from './leases.ts';
import { apiVersion, storageName } from './kind.ts';
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
  /** N of the release 1.N that the server is of. */
  readonly release: number;
  readonly #kinds = new Map<string, Kind>();
  readonly #served = new Map<string, ServedKind>();
  readonly #named = new Map<string, ServedKind>();
  readonly #done = new Map<Schema, Schema>();
  #edition = 0;

  /** @param release - N of 1.N: versions and fields of other releases are not there */
  constructor(kinds: readonly Kind[], release = LATEST) {
    this.release = release;
    for (const kind of kinds) for (const one of kindAt(kind, release, this.#done)) this.put(one);
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()];
  }

  /** Another number whenever something else is served. */
  get edition(): number {
    return this.#edition;
  }

  /** Serves a kind from now on, in the place of the one that is stored where it is. */
  put(kind: Kind): void {
    this.remove(storageName(kind));
    this.#kinds.set(storageName(kind), kind);
    for (const at of kind.served) {
      this.#served.set(path(at.group, at.version, kind.resource), { kind, at });
      this.#named.set(`${apiVersion(at)} ${kind.kind}`, { kind, at });
    }
  }

  /** Serves a kind no more. @param name - as {@link storageName} has it */
  remove(name: string): void {
    const kind = this.#kinds.get(name);
    this.#edition += 1;
    this.#kinds.delete(name);
    for (const at of kind?.served ?? []) {
      this.#served.delete(path(at.group, at.version, kind?.resource ?? ''));
      this.#named.delete(`${apiVersion(at)} ${kind?.kind}`);
    }
  }

  find(group: string, version: string, resource: string): ServedKind | undefined {
    return this.#served.get(path(group, version, resource));
  }

  /** By what objects say they are. @param version - `apps/v1` */
  named(version: string, kind: string): ServedKind | undefined {
    return this.#named.get(`${version} ${kind}`);
  }

  /** In its first version. @param name - as {@link storageName} has it */
  stored(name: string): ServedKind | undefined {
    const kind = this.#kinds.get(name);
    return kind === undefined ? undefined : { kind, at: kind.served[0] };
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
