import { isEviction } from './handlers/evict.ts';
import type { Registry } from './kinds/registry.ts';
import { allVerbs, apiVersion } from './kinds/kind.ts';
import type { ServedKind } from './kinds/kind.ts';

/** What `/api`, `/api/v1`, `/apis`, `/apis/GROUP` and `/apis/GROUP/VERSION` answer; undefined for any other path. */
export function discovery(registry: Registry, path: string, address: string): unknown {
  const [root, ...parts] = path.split('/').filter((part) => part !== '');
  if (root === 'api' && parts.length === 0) {
    return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: address }] };
  }
  if (root === 'api' && parts.length === 1) return resources(registry, '', parts[0] ?? '');
  if (root !== 'apis') return undefined;
  const [name, version] = parts;
  const groups = [...registry.groups()].filter(([group]) => group !== '');
  if (name === undefined)
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(([group, versions]) => apiGroup(group, versions)) };
  if (version !== undefined) return parts.length === 2 ? resources(registry, name, version) : undefined;
  const versions = registry.groups().get(name);
  return versions === undefined || name === '' ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...apiGroup(name, versions) };
}

function apiGroup(name: string, versions: readonly string[]): Record<string, unknown> {
  const all = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: all, preferredVersion: all[0] };
}

function resources(registry: Registry, group: string, version: string): unknown {
  const served = registry.under(group, version);
  if (served.length === 0) return undefined;
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion({ group, version }), resources: served.flatMap(resource) };
}

const eviction = {
  name: 'pods/eviction',
  singularName: '',
  namespaced: true,
  group: 'policy',
  version: 'v1beta1',
  kind: 'Eviction',
  verbs: ['create'],
};

function resource(served: ServedKind): Record<string, unknown>[] {
  const { kind } = served;
  const { resource: name, singular: singularName, namespaced, kind: kindName } = kind;
  const own = {
    name,
    singularName,
    namespaced,
    kind: kindName,
    verbs: [...(kind.verbs ?? allVerbs)].sort(),
    ...(kind.shortNames ? { shortNames: kind.shortNames } : {}),
    ...(kind.categories ? { categories: kind.categories } : {}),
  };
  const status = { name: `${name}/status`, singularName: '', namespaced, kind: kindName, verbs: ['get', 'patch', 'update'] };
  const actions = Object.entries(kind.actions ?? {}).map(([action, { kind: body }]) => ({
    name: `${name}/${action}`,
    singularName: '',
    namespaced,
    kind: body,
    verbs: ['create'],
  }));
  const views = Object.entries(kind.views ?? {}).map(([view, { group, version, kind: shown }]) => ({
    name: `${name}/${view}`,
    singularName: '',
    namespaced,
    group,
    version,
    kind: shown,
    verbs: ['get', 'patch', 'update'],
  }));
  return [own, ...(kind.hasStatus ? [status] : []), ...actions, ...(isEviction(served, 'eviction') ? [eviction] : []), ...views];
}
