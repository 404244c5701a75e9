import { isSecretName, REDACTED, redactText } from './text.ts';
import { redactFlags } from './unit.ts';

/** Deeper than any object that the bundle contains. */
const MAX_DEPTH = 60;
/** Names of digests and IDs: their values reveal nothing, and readers need them for comparison. */
const digestName = /(?:sha256|uid|hash|digest|commit|boot|id|resourceVersion)$/i;
/** Parameters of volume drivers, whose names dkc does not know. */
const drivers = /^(?:volumeAttributes|flexVolume|parameters)$/;
const isDigest = (text: string): boolean => /^(?:sha256:)?[0-9a-f-]{1,64}$/i.test(text);

/**
 * A record of the store or an API object, without possible secrets: managedFields, annotations other than dkc's, values of environment
 * variables, fields with the name of a secret, and what {@link redactText} finds in texts.
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

/** Numbers, booleans, and the values of a field in a policy. */
const isPlain = (value: unknown): boolean =>
  value === null || typeof value === 'number' || typeof value === 'boolean' || value === 'allow' || value === 'deny';

const isVariable = (list: string, one: unknown): one is { value: unknown } =>
  list === 'env' && typeof one === 'object' && one !== null && 'value' in one;

const isArguments = (name: string, value: readonly unknown[]): value is readonly string[] =>
  (name === 'args' || name === 'command') && value.every((one) => typeof one === 'string');

function redactString(text: string, name: string): string {
  return digestName.test(name) && isDigest(text) ? text : redactText(text);
}
