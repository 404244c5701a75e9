import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { allVerbs } from '../kinds/kind.ts';

/**
 * Faults of a request: respond with an HTTP status instead; `drop` the exchange before doing anything; `hang` without a response; leave the whole
 * connection `half-open`, so that nothing is transferred any more; break off after `half` of the response; `reset` the whole connection; respond that
 * the version is `gone` (410); `delay` the request; respond to a read from a `stale` state; `truncate` the response without an error.
 *
 * Faults of an event of a watch: it is sent twice (`duplicate`), after the next event (`reorder`), or late (`lag`); ERROR 410 is sent instead
 * (`early-gone`), or the watch ends in the middle of the event without an error (`truncate`).
 */
export type FaultAction = FaultStatus | FaultName;

/** The response that replaces the request's; `injectedError` of plan.ts creates it. */
export interface FaultStatus {
  status: number;
}

export type FaultName = (typeof faultNames)[number];

/** Default age of a stale state, in number of changes. */
export const STALE_VERSIONS = 100;

/** One line of a fault file. */
export interface Fault {
  /** `get`, `list`, `watch`, ..., or `*`; for a non-resource path an HTTP method in lower case. */
  verb: string;
  /** `nodes`, `nodes/status`, a non-resource path (`/version`), or `*`. */
  resource: string;
  /** Name of the requested object; for faults of events, of the object of the event. @default any */
  name?: string;
  action: FaultAction;
  /** Length of a delay or lag. @default 1000 */
  ms: number;
  /** Age of a stale state, in number of changes. @default {@link STALE_VERSIONS} */
  versions?: number;
  /** Number of first requests, or events, without the fault. @default 0 */
  after?: number;
  /** Maximum number of requests, or events, with the fault. @default all */
  count?: number;
  /** Share of requests, or events, with the fault, 0 to 1. @default 1 */
  probability?: number;
}

const faultNames = [
  'drop',
  'hang',
  'half',
  'reset',
  'gone',
  'delay',
  'stale',
  'truncate',
  'half-open',
  'duplicate',
  'reorder',
  'early-gone',
  'lag',
] as const;
const fields = {
  verb: true,
  resource: true,
  name: true,
  status: true,
  fault: true,
  ms: true,
  versions: true,
  after: true,
  count: true,
  probability: true,
} satisfies Record<Exclude<keyof Fault, 'action'> | keyof FaultStatus | 'fault', true>;
const methods = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options'] as const;
const ofEvents: ReadonlySet<unknown> = new Set<FaultName>(['duplicate', 'reorder', 'early-gone', 'lag']);

/** Whether a fault with this verb applies to events of watches instead of requests. */
export function isOfEvents({ action }: Pick<Fault, 'action'>, verb: string): boolean {
  return ofEvents.has(action) || (action === 'truncate' && verb === 'watch');
}

/**
 * Resources of faults that are not served, and so probably misspelled.
 * @param served - plural names, such as `nodes`
 */
export function unservedResources(faults: readonly Pick<Fault, 'resource'>[], served: ReadonlySet<string>): string[] {
  const named = new Set(faults.map(({ resource }) => resource));
  return [...named].filter((resource) => resource !== '*' && !resource.startsWith('/') && !served.has(resource.replace(/\/.*$/, '')));
}

/**
 * Parses the JSON of a fault file: a list of `{verb, resource, name?, status | "drop" | ..., ms?, versions?, after?, count? | probability?}`. The action
 * is the value of `status` (`"status": "drop"`) or `fault`, or a field that is true (`"drop": true`).
 * @throws ActionError naming the entry
 */
export function parseFaults(json: unknown): Fault[] {
  if (!Array.isArray(json)) throw bad('', 'it must be a list');
  return json.map((entry: unknown, at) => parseFault(entry, `entry ${at + 1} of `));
}

function parseFault(entry: unknown, where: string): Fault {
  if (!isJsonObject(entry)) throw bad(where, 'it must be an object');
  const unknown = Object.keys(entry).find((field) => !Object.hasOwn(fields, field) && !faultNames.some((word) => word === field));
  if (unknown !== undefined) throw bad(where, `there is no field ${JSON.stringify(unknown)}`);
  const { verb = '*', resource = '*', name, ms = 1000, probability } = entry;
  if (typeof verb !== 'string' || typeof resource !== 'string') throw bad(where, 'verb and resource must be strings');
  const verbs = resource.startsWith('/') ? methods : allVerbs;
  if (verb !== '*' && !verbs.some((one) => one === verb))
    throw bad(
      where,
      `there is no verb ${JSON.stringify(verb)}${resource.startsWith('/') ? ' for a path' : ''}; name one of ${verbs.join(', ')}, *`,
    );
  if (name !== undefined && typeof name !== 'string') throw bad(where, 'name must be a string');
  if (typeof ms !== 'number' || !(ms >= 0)) throw bad(where, 'ms must be 0 or more');
  const count = wholeNumber(entry, 'count', where);
  if (probability !== undefined && (typeof probability !== 'number' || !(probability >= 0 && probability <= 1))) {
    throw bad(where, 'probability must be between 0 and 1');
  }
  const action = parseAction(entry, where);
  if (typeof action === 'string' && ofEvents.has(action) && verb !== 'watch' && verb !== '*')
    throw bad(where, `${action} is a fault of watch events: verb must be watch or *`);
  return {
    verb,
    resource,
    ms,
    versions: wholeNumber(entry, 'versions', where) ?? STALE_VERSIONS,
    after: wholeNumber(entry, 'after', where) ?? 0,
    action,
    ...(name === undefined ? {} : { name }),
    ...(count === undefined ? {} : { count }),
    ...(probability === undefined ? {} : { probability }),
  };
}

function wholeNumber(entry: Record<string, unknown>, field: string, where: string): number | undefined {
  const found = entry[field];
  if (found === undefined) return undefined;
  if (typeof found !== 'number' || !Number.isInteger(found) || found < 0) throw bad(where, `${field} must be a whole number`);
  return found;
}

function parseAction(entry: Record<string, unknown>, where: string): FaultAction {
  const named = faultNames.filter((word) => entry[word] === true || entry['status'] === word || entry['fault'] === word);
  const [word] = named;
  const { status } = entry;
  if (word !== undefined && named.length === 1 && typeof status !== 'number') return word;
  if (word === undefined && typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return { status };
  throw bad(where, `it needs one of: a status from 400 to 599, ${faultNames.join(', ')}`);
}

function bad(where: string, hint: string): ActionError {
  return new ActionError('read', `${where}the fault file`, { hint });
}
