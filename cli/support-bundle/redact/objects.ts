import { isSecretName, REDACTED, redactText } from './text.ts';
import { redactFlags } from './unit.ts';

/** Deeper than any object of ours. */
const MAX_DEPTH = 60;
/** Names of values that are digests and ids: their content says nothing, and two of them are compared. */
const digestName = /(?:sha256|uid|hash|digest|commit|boot|id|resourceVersion)$/i;
/** What drivers of volumes are given, in names of their own. */
const drivers = /^(?:volumeAttributes|flexVolume|parameters)$/;
const isDigest = (text: string): boolean => /^(?:sha256:)?[0-9a-f-]{1,64}$/i.test(text);

/**
 * A record of the store or an object of the API, without what may be a secret: managedFields, annotations of others than dkc, the values of
 * variables, what has a secret's name, and whatever {@link redactText} finds in texts.
 */
export function redactObject(value: unknown, name = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return REDACTED;
  if (typeof value === 'string') return redactString(value, name);
  if (Array.isArray(value)) {
    if (isArguments(name, value)) return redactFlags(value);
    return (value as readonly unknown[]).map((one) =>
      redactObject(isVariable(name, one) ? { ...one, value: REDACTED } : one, name, depth + 1),
    );
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
      if (key === 'managedFields') return [];
      const shown = redactText(key);
      if (name === 'annotations' && !/^(?:[a-z]+\.)?dkc\.dev\//.test(key)) return [[shown, REDACTED]];
      if ((isSecretName(key) || drivers.test(key)) && !isPlain(inner)) return [[shown, REDACTED]];
      return [[shown, redactObject(inner, key, depth + 1)]];
    }),
  );
}

/** Numbers, switches, and what a policy says of a field. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean' || value === 'allow' || value === 'deny';

const isVariable = (list: string, one: unknown): one is { value: unknown } =>
  list === 'env' && typeof one === 'object' && one !== null && 'value' in one;

const isArguments = (name: string, value: readonly unknown[]): value is readonly string[] =>
  (name === 'args' || name === 'command') && value.every((one) => typeof one === 'string');

function redactString(text: string, name: string): string {
  return digestName.test(name) && isDigest(text) ? text : redactText(text);
}
