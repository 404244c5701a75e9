import { ActionError } from '../../base/errors.ts';
import { isJsonObject } from '../../kube/api/json.ts';

/**
 * What goes wrong: answer with an HTTP status instead; `drop` the exchange before doing anything; `hang` without an answer; break off `half` way
 * through the answer; `reset` the whole connection; say that the version is `gone` (410); `delay` and then do as asked.
 */
export type FaultAction = { status: number } | 'drop' | 'hang' | 'half' | 'reset' | 'gone' | 'delay';

/** One line of a fault file. */
export interface Fault {
  /** `get`, `list`, `watch`, ..., or `*`. */
  verb: string;
  /** `nodes`, `nodes/status`, the path for what is no resource (`/version`), or `*`. */
  resource: string;
  /** @default any */
  name?: string;
  action: FaultAction;
  /** Length of a delay. @default 1000 */
  ms: number;
  /** Hits the first so many requests. @default all */
  count?: number;
  /** Hits this share of requests, 0 to 1. @default 1 */
  probability?: number;
}

const words = ['drop', 'hang', 'half', 'reset', 'gone', 'delay'] as const;
const fields = new Set(['verb', 'resource', 'name', 'status', 'fault', 'ms', 'count', 'probability']);

/**
 * Reads the JSON of a fault file: a list of `{verb, resource, name?, status | "drop" | ..., ms?, count? | probability?}`. The word stands
 * where it is written in `status` (`"status": "drop"`), in `fault`, or as a field of its own that is true (`"drop": true`).
 * @throws ActionError naming the entry
 */
export function parseFaults(json: unknown): Fault[] {
  if (!Array.isArray(json)) throw bad('', 'it must be a list');
  return json.map((entry: unknown, at) => parseFault(entry, `entry ${at + 1} of `));
}

function parseFault(entry: unknown, where: string): Fault {
  if (!isJsonObject(entry)) throw bad(where, 'it must be an object');
  const unknown = Object.keys(entry).find((field) => !fields.has(field) && !words.some((word) => word === field));
  if (unknown !== undefined) throw bad(where, `there is no field ${JSON.stringify(unknown)}`);
  const { verb = '*', resource = '*', name, ms = 1000, count, probability } = entry;
  if (typeof verb !== 'string' || typeof resource !== 'string') throw bad(where, 'verb and resource must be texts');
  if (name !== undefined && typeof name !== 'string') throw bad(where, 'name must be a text');
  if (typeof ms !== 'number' || !(ms >= 0)) throw bad(where, 'ms must be 0 or more');
  if (count !== undefined && (typeof count !== 'number' || !Number.isInteger(count) || count < 0))
    throw bad(where, 'count must be a whole number');
  if (probability !== undefined && (typeof probability !== 'number' || !(probability >= 0 && probability <= 1))) {
    throw bad(where, 'probability must be between 0 and 1');
  }
  return {
    verb,
    resource,
    ms,
    action: parseAction(entry, where),
    ...(name === undefined ? {} : { name }),
    ...(count === undefined ? {} : { count }),
    ...(probability === undefined ? {} : { probability }),
  };
}

function parseAction(entry: Record<string, unknown>, where: string): FaultAction {
  const named = words.filter((word) => entry[word] === true || entry['status'] === word || entry['fault'] === word);
  const [word] = named;
  const { status } = entry;
  if (word !== undefined && named.length === 1 && typeof status !== 'number') return word;
  if (word === undefined && typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return { status };
  throw bad(where, `it needs one of: a status from 400 to 599, ${words.join(', ')}`);
}

function bad(where: string, hint: string): ActionError {
  return new ActionError('read', `${where}the fault file`, { hint });
}
