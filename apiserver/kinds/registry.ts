import { configMaps } from './config-maps.ts';
import { events } from './events.ts';
import { leases } from './leases.ts';
import type { Kind, ServedKind } from './kind.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { pods } from './pods.ts';
import { secrets } from './secrets.ts';
import { serviceAccounts } from './service-accounts.ts';

/** Every kind the server has, in the order discovery lists them. */
export const builtInKinds: readonly Kind[] = [configMaps, events, namespaces, nodes, pods, secrets, serviceAccounts, leases];

/** The kinds of one server, by the paths they are served at. */
export class Registry {
  readonly kinds: readonly Kind[];
  readonly #served = new Map<string, ServedKind>();

  constructor(kinds: readonly Kind[]) {
    this.kinds = kinds;
    for (const kind of kinds) {
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

function path(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
