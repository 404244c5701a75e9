/**
 * An error a person can act on: what was tried, on which object, and what to do about it.
 * Its message is `Cannot <action> <object>: <hint>`; the technical reason stays in `cause`.
 */
export class ActionError extends Error {
  override name = 'ActionError';
  readonly object: string;
  readonly hint: string;
  constructor(action: string, object: string, why: { hint: string; cause?: unknown }) {
    super(`Cannot ${action} ${object}: ${why.hint}`, 'cause' in why ? { cause: why.cause } : {});
    this.object = object;
    this.hint = why.hint;
  }
}

/** Closes a switch over a union: the compiler proves that no case is missing, and a value from outside still fails loudly. */
export function unreachable(value: never): never {
  throw new TypeError(`unexpected value ${JSON.stringify(value)}`);
}

/** What to do about EACCES. Root is denied as well: the agent says so in its log, where nobody is to run anything as root. */
export const PERMISSION_DENIED =
  'permission denied: run this as root; where root is denied, see the audit log (SELinux, AppArmor) and the options of its mount';

/** What an error says by itself, without what is behind it; what was thrown that is no error, as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * What to throw where several things may have failed: the error itself when it is the only one, else one that holds all.
 * @param message - of the one that holds all; not asked for otherwise
 */
export function asOneError(errors: readonly unknown[], message: () => string): unknown {
  return errors.length === 1 ? errors[0] : new AggregateError(errors, message());
}

/** Of Node.js on certificates that it does not trust. A person runs dkc, which has no such option. */
const ADVICE_OF_NODE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/;

/** `error` and everything behind it, outermost first: `Cannot read X: it is gone (ENOENT: no such file)`. Never empty. */
export function describeError(error: unknown): string {
  const seen = new Set<unknown>();
  const parts: string[] = [];
  for (let at: unknown = error; at !== undefined && at !== null && !seen.has(at); at = at instanceof Error ? at.cause : undefined) {
    seen.add(at);
    const text = at instanceof Error ? at.message.replace(ADVICE_OF_NODE, '') || at.name : JSON.stringify(at);
    if (!parts.some((part) => part.includes(text))) parts.push(text);
  }
  const [first = 'unknown error', ...rest] = parts;
  return rest.length === 0 ? first : `${first} (${rest.join('; ')})`;
}

/** What Linux says of a disk and Node.js has no name for: its `code` is `Unknown system error -122`. */
const NAMELESS: Readonly<Record<string, string>> = { 74: 'EBADMSG', 116: 'ESTALE', 117: 'EUCLEAN', 122: 'EDQUOT' };

/** The `code` of a system error (`ENOENT`, `ECONNREFUSED`), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  if (typeof error.code !== 'string') return undefined;
  return NAMELESS[/^Unknown system error -(\d+)$/.exec(error.code)?.[1] ?? ''] ?? error.code;
}

/** For a hint, the name that was probably meant: at the smallest edit distance, if that is at most a third of it, else the first that begins so. */
export function nearest(asked: string, names: readonly string[]): string | undefined {
  const [best] = names.map((name) => ({ name, far: distance(asked, name) })).sort((a, b) => a.far - b.far);
  if (!best || asked === '') return undefined;
  if (best.far <= Math.max(1, Math.floor(best.name.length / 3))) return best.name;
  return names.find((name) => name.startsWith(asked));
}

function distance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1];
    for (let j = 0; j < b.length; j++)
      row.push(Math.min((row[j] ?? 0) + 1, (above[j + 1] ?? 0) + 1, (above[j] ?? 0) + (a[i] === b[j] ? 0 : 1)));
    above = row;
  }
  return above[b.length] ?? 0;
}
