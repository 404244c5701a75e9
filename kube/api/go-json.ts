/**
 * JSON as API servers write it themselves: fields sorted, and what HTML could take for its own escaped in strings.
 *
 * A field that must not change is compared byte for byte by some of them (`data` of a ControllerRevision), and a strategic merge patch of anything
 * else in the object has the server write it anew: what was created in other words can then not be patched any more.
 */
export function goJson(value: unknown): string {
  if (typeof value === 'string') return goString(value);
  if (Array.isArray(value)) return `[${value.map((item) => goJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${fields.map(([name, field]) => `${goString(name)}:${goJson(field)}`).join(',')}}`;
}

function goString(text: string): string {
  return JSON.stringify(text.toWellFormed()).replace(ESCAPED, (found) => SHORT[found] ?? unicode(found));
}

/** In what JSON.stringify has made of a string; an escaped backslash is taken along, so that what follows it is not taken for an escape. */
const ESCAPED = /\\\\|\\b|\\f|[<>&\u2028\u2029]/g;
const SHORT: Readonly<Record<string, string>> = { '\\\\': '\\\\', '\\b': '\\u0008', '\\f': '\\u000c' };

const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const text: unique symbol = Symbol('JSON text');

/** The object, to be sent in exactly these words. What is changed in it afterwards is not sent. */
export function inGoJson<T extends object>(object: T): T {
  return { ...object, [text]: goJson(object) };
}

/** What is sent for a value. */
export function jsonTextOf(value: unknown): string {
  const exact = typeof value === 'object' && value !== null ? (value as { [text]?: string })[text] : undefined;
  return exact ?? JSON.stringify(value);
}
