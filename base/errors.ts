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

/** The hint for EACCES. It covers denied root as well: the agent, which runs as root, logs it too. */
export const PERMISSION_DENIED =
  'permission denied: run this as root; where root is denied, see the audit log (SELinux, AppArmor) and the options of its mount';

/** The message of an error without its causes; any other thrown value as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * The error to throw where several calls may have failed: the only error itself, or an AggregateError of all.
 * @param message - of the AggregateError; called for it only
 */
export function asOneError(errors: readonly unknown[], message: () => string): unknown {
  return errors.length === 1 ? errors[0] : new AggregateError(errors, message());
}

/** Node.js adds this to errors about untrusted certificates. Users run dkc, which has no such option. */
const ADVICE_OF_NODE = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/;

/** `error` and its causes, outermost first: `Cannot read X: it is gone (ENOENT: no such file)`. Never empty. */
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

/** Disk errors of Linux that Node.js has no name for: their `code` is like `Unknown system error -122`. */
const NAMELESS: Readonly<Record<string, string>> = { 74: 'EBADMSG', 116: 'ESTALE', 117: 'EUCLEAN', 122: 'EDQUOT' };

/** The `code` of a system error (`ENOENT`, `ECONNREFUSED`), or undefined. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  if (typeof error.code !== 'string') return undefined;
  return NAMELESS[/^Unknown system error -(\d+)$/.exec(error.code)?.[1] ?? ''] ?? error.code;
}

/** For a hint, the name probably meant: at the smallest edit distance, if that is at most a third of its length, else the first with that prefix. */
export function nearest(typed: string, names: readonly string[]): string | undefined {
  const [best] = names.map((name) => ({ name, far: distance(typed, name) })).sort((a, b) => a.far - b.far);
  if (!best || typed === '') return undefined;
  if (best.far <= Math.max(1, Math.floor(best.name.length / 3))) return best.name;
  return names.find((name) => name.startsWith(typed));
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
