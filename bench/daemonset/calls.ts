/** Number of calls of a user: `create pods` -> 1000, `patch pods/status` -> 3. */
export type Calls = ReadonlyMap<string, number>;

interface AuditEvent {
  verb?: string;
  user?: { username?: string };
  objectRef?: { resource?: string; subresource?: string };
  requestURI?: string;
}

const reading = /^(get|list|watch) /;

/** Counts the calls of one user in an audit log, read in chunks: a chunk may end within a line. */
export class CallCounter {
  readonly #user: string;
  readonly #calls = new Map<string, number>();
  #rest = '';

  constructor(user: string) {
    this.#user = user;
  }

  get calls(): Calls {
    return this.#calls;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') this.#count(JSON.parse(line) as AuditEvent);
  }

  #count({ verb = '', user, objectRef, requestURI = '' }: AuditEvent): void {
    if (user?.username !== this.#user) return;
    const { resource, subresource } = objectRef ?? {};
    const what = resource === undefined ? (requestURI.split('?')[0] ?? '') : [resource, subresource].filter(Boolean).join('/');
    const name = `${verb} ${what}`;
    this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
  }
}

export const readsOf = (calls: Calls): number => sum(calls, (name) => reading.test(name));
/** Number of writes without events: the number of events depends on limits per object, not on the work. */
export const writesOf = (calls: Calls): number => sum(calls, (name) => !reading.test(name) && !name.endsWith(' events'));

/** `create pods 1000, update daemonsets/status 12`, the most frequent first. */
export function callsText(calls: Calls): string {
  const all = [...calls].toSorted(([left, many], [right, few]) => few - many || (left < right ? -1 : 1));
  return all.map(([name, count]) => `${name} ${count}`).join(', ') || 'none';
}

function sum(calls: Calls, counts: (name: string) => boolean): number {
  return [...calls].reduce((total, [name, count]) => (counts(name) ? total + count : total), 0);
}
