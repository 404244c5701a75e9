import { ActionError } from '../../base/errors.ts';
import type { Resource } from '../api/object.ts';
import type { ListQuery, WatchQuery } from './client.ts';

/**
 * The path of a collection, or of one object in it. Names are encoded; those that no encoding makes safe are refused, because
 * servers undo the encoding before they split the path.
 * @param namespace - required for one object of a namespaced kind; without it a collection spans all namespaces
 * @throws {ActionError} for a missing namespace, an empty name, and names with `/` or `%`, `.` or `..`
 */
export function objectPath(
  resource: Resource,
  ref: { name?: string | undefined; namespace?: string | undefined },
  subresource?: string,
): string {
  const parts = resource.group === '' ? ['api'] : ['apis', segment('group', resource.group)];
  parts.push(segment('version', resource.version));
  if (resource.namespaced && ref.namespace !== undefined && ref.namespace !== '')
    parts.push('namespaces', segment('namespace', ref.namespace));
  else if (resource.namespaced && ref.name !== undefined) {
    throw new ActionError('address', `${resource.kind} ${ref.name}`, { hint: 'its kind is namespaced; set a namespace' });
  }
  parts.push(segment('resource', resource.resource));
  if (ref.name !== undefined) parts.push(segment('name', ref.name));
  if (subresource !== undefined) parts.push(segment('subresource', subresource));
  return `/${parts.join('/')}`;
}

/** The query of a list, watch or write: `` or `?a=b&c=d`. */
export function queryString(
  query: ListQuery & WatchQuery & { dryRun?: 'All'; fieldManager?: string | undefined },
  extra: Readonly<Record<string, string>> = {},
): string {
  const pairs: [string, string | number | boolean | undefined][] = [
    ['labelSelector', query.labelSelector],
    ['fieldSelector', query.fieldSelector],
    ['limit', query.limit],
    ['continue', query.continue],
    ['resourceVersion', query.resourceVersion],
    ['resourceVersionMatch', query.resourceVersionMatch],
    ['timeoutSeconds', query.timeoutSeconds],
    ['sendInitialEvents', query.sendInitialEvents],
    ['dryRun', query.dryRun],
    ['fieldManager', query.fieldManager],
    ...Object.entries(extra),
  ];
  const given = pairs.flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]));
  return given.length === 0 ? '' : `?${given.join('&')}`;
}

function segment(what: string, text: string): string {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text) || !text.isWellFormed()) {
    throw new ActionError('address', `${what} ${JSON.stringify(text)}`, {
      hint: "it is empty, '.', '..', or holds '/' or '%', which no name may",
    });
  }
  return encodeURIComponent(text);
}
