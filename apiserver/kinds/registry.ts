import { type Schema, schemaAt } from '../openapi/schema.ts';
import {
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from './access.ts';
import { configMaps, controllerRevisions, leases } from './data-kinds.ts';
import { daemonSets } from './daemon-sets.ts';
import { events } from './events.ts';
import { apiVersion, type Kind, type ServedKind, storageName } from './kind.ts';
import { namespaces } from './namespaces.ts';
import { nodes } from './nodes.ts';
import { persistentVolumeClaims, persistentVolumes } from './persistent-volumes.ts';
import { podDisruptionBudgets } from './pod-disruption-budgets.ts';
import { pods } from './pods.ts';
import { priorityClasses } from './priority-classes.ts';
import { replicaSets, replicationControllers } from './replica-sets.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles, serviceAccounts } from './roles.ts';
import { services } from './services.ts';
import { statefulSets } from './stateful-sets.ts';
import { csiDrivers, csiNodes, storageClasses, volumeAttachments } from './storage.ts';

/** Default release: everything is served. */
const LATEST = 99;

/** All built-in kinds, in the order of discovery. */
export const builtInKinds: readonly Kind[] = [
  configMaps,
  events,
  namespaces,
  nodes,
  persistentVolumeClaims,
  persistentVolumes,
  pods,
  replicationControllers,
  serviceAccounts,
  services,
  controllerRevisions,
  daemonSets,
  replicaSets,
  statefulSets,
  podDisruptionBudgets,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  csiDrivers,
  csiNodes,
  storageClasses,
  volumeAttachments,
  priorityClasses,
  leases,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
];

/** The kinds of one server, by path. */
export class Registry {
  /** N of the server's release 1.N. */
  readonly release: number;
  readonly #kinds = new Map<string, readonly [Kind, readonly ServedKind[]]>();
  readonly #served = new Map<string, ServedKind>();
  readonly #named = new Map<string, ServedKind>();
  readonly #done = new Map<Schema, Schema>();
  #edition = 0;

  /** @param release - N of 1.N: versions and fields of other releases are not served */
  constructor(kinds: readonly Kind[], release = LATEST) {
    this.release = release;
    for (const kind of kinds) for (const one of kindAt(kind, release, this.#done)) this.put(one);
  }

  get kinds(): readonly Kind[] {
    return [...this.#kinds.values()].map(([kind]) => kind);
  }

  /** Changes whenever the set of served kinds changes. */
  get edition(): number {
    return this.#edition;
  }

  /**
   * Serves a kind from now on; replaces a kind with the same storage name.
   * @param served - its versions, if they have different rules. @default the same rules in all versions
   */
  put(kind: Kind, served: readonly ServedKind[] = kind.served.map((at) => ({ kind, at }))): void {
    this.remove(storageName(kind));
    this.#kinds.set(storageName(kind), [kind, served]);
    for (const one of served) {
      this.#served.set(path(one.at.group, one.at.version, one.kind.resource), one);
      this.#named.set(`${apiVersion(one.at)} ${one.kind.kind}`, one);
    }
  }

  /** Stops serving a kind. @param name - see {@link storageName} */
  remove(name: string): void {
    const [, served = []] = this.#kinds.get(name) ?? [];
    this.#edition += 1;
    this.#kinds.delete(name);
    for (const { kind, at } of served) {
      this.#served.delete(path(at.group, at.version, kind.resource));
      this.#named.delete(`${apiVersion(at)} ${kind.kind}`);
    }
  }

  find(group: string, version: string, resource: string): ServedKind | undefined {
    return this.#served.get(path(group, version, resource));
  }

  /** Finds a kind by apiVersion and kind of an object. @param version - `apps/v1` */
  named(version: string, kind: string): ServedKind | undefined {
    return this.#named.get(`${version} ${kind}`);
  }

  /** A kind in its first version. @param name - see {@link storageName} */
  stored(name: string): ServedKind | undefined {
    return this.#kinds.get(name)?.[1][0];
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

  /** The kinds of one group and version. */
  under(group: string, version: string): ServedKind[] {
    return [...this.#served.values()].filter(({ at }) => at.group === group && at.version === version);
  }

  all(): ServedKind[] {
    return [...this.#served.values()];
  }
}

/** A kind in a release; empty if the release serves no version of it. */
function kindAt(kind: Kind, release: number, done: Map<Schema, Schema>): Kind[] {
  const [first, ...more] = kind.served
    .filter(({ since = 0, until = release }) => since <= release && release <= until)
    .map((at) => (at.schema === undefined ? at : { ...at, schema: schemaAt(at.schema, release, done) }));
  return first === undefined ? [] : [{ ...kind, served: [first, ...more], schema: schemaAt(kind.schema, release, done) }];
}

function path(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}
