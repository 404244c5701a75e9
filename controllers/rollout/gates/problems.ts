import { isJsonObject } from '../../../kube/api/json.ts';
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from '../../../kube/api/names.ts';
import { MAX_GATES, MAX_QUERY } from './contract.ts';

const MAX_URL = 2048;
const MAX_IGNORE = 1024;
const MAX_NAME = 253;

/** @returns what is wrong with a value, in words that follow its path */
type Check = (value: unknown) => string | undefined;
interface Field {
  check: Check;
  isOptional?: boolean;
}

const text =
  (least: number, most: number): Check =>
  (value) => {
    if (typeof value !== 'string') return 'must be a string';
    if (value.length < least) return 'must not be empty';
    return value.length > most ? `has ${value.length} characters; at most ${most} are allowed` : undefined;
  };

/** Text of at most 253 characters in which `find` finds no problem. */
const shaped =
  (find: (text: string) => string | undefined): Check =>
  (value) =>
    text(1, MAX_NAME)(value) ?? find(value as string);

const oneOf =
  (...allowed: readonly string[]): Check =>
  (value) =>
    typeof value === 'string' && allowed.includes(value) ? undefined : `must be one of ${allowed.join(', ')}`;

const url: Check = (value) => {
  const remedy = 'write the base of the server, such as http://prometheus.monitoring:9090';
  const wrong = text(1, MAX_URL)(value);
  if (wrong !== undefined) return wrong;
  const base = URL.parse(value as string);
  if (base === null || !['http:', 'https:'].includes(base.protocol)) return `is not an http or https URL; ${remedy}`;
  if (base.username !== '' || base.password !== '') return `must not hold credentials; ${remedy}`;
  return /[?#]/.test(value as string) ? `must not have a query or a fragment; ${remedy}` : undefined;
};

const apiVersion = shaped((value) => {
  const parts = value.split('/');
  const [version = '', group] = parts.toReversed();
  const isShaped =
    parts.length <= 2 && dnsLabelProblems(version).length === 0 && (group === undefined || dnsSubdomainProblems(group).length === 0);
  return isShaped ? undefined : 'must be VERSION or GROUP/VERSION, such as v1 or apps/v1';
});
const kind = shaped((value) => (/^[A-Z][A-Za-z0-9]{0,62}$/.test(value) ? undefined : 'must be the name of a kind, such as Deployment'));
// Some kinds, such as ClusterRoles, allow more than DNS names; a name that does not fit into a path is valid for no kind.
const name = shaped((value) =>
  /[/%]|^\.\.?$/.test(value) || !value.isWellFormed() ? "must not be '.' or '..', or hold '/' or '%'" : undefined,
);

const kinds: Readonly<Record<string, Readonly<Record<string, Field>>>> = {
  prometheus: {
    url: { check: url },
    query: { check: text(1, MAX_QUERY) },
    expect: { check: oneOf('empty', 'nonEmpty', 'nonZero'), isOptional: true },
  },
  alerts: {
    url: { check: url },
    ignore: { check: text(1, MAX_IGNORE), isOptional: true },
    firingOnly: { check: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'), isOptional: true },
  },
  object: {
    apiVersion: { check: apiVersion },
    kind: { check: kind },
    namespace: { check: shaped((value) => dnsLabelProblems(value)[0]), isOptional: true },
    name: { check: name },
    condition: { check: shaped((value) => qualifiedNameProblems(value)[0]) },
    status: { check: oneOf('True', 'False', 'Unknown'), isOptional: true },
  },
};

/**
 * What is wrong with the gates of a rollout, whatever their shape.
 * @param path - the field they are in, such as `spec.gates`
 * @returns a sentence each, with the field first; none: they are `Gate`s
 */
export function gateProblems(gates: readonly unknown[], path: string): string[] {
  if (gates.length > MAX_GATES) return [`${path}: has ${gates.length} gates; at most ${MAX_GATES} are allowed`];
  const seen = new Set<unknown>();
  return gates.flatMap((gate, index) => {
    const at = `${path}[${index}]`;
    if (!isJsonObject(gate)) return [`${at}: must be an object`];
    const problems = nameProblems(gate['name'], seen).map((problem) => `${at}.name: ${problem}`);
    seen.add(gate['name']);
    const given = Object.keys(gate).filter((key) => key !== 'name' && gate[key] !== undefined);
    const [only = ''] = given;
    if (given.length !== 1 || !Object.hasOwn(kinds, only))
      return [...problems, `${at}: must have exactly one of ${Object.keys(kinds).join(', ')}, and no other field but name`];
    return [...problems, ...fieldProblems(gate[only], kinds[only] ?? {}, `${at}.${only}`)];
  });
}

function nameProblems(value: unknown, seen: ReadonlySet<unknown>): string[] {
  if (typeof value !== 'string') return ['must be a string'];
  if (value.length > MAX_NAME) return [`must be no more than 63 characters`];
  return seen.has(value) ? ['another gate has this name; names must be unique'] : dnsLabelProblems(value);
}

function fieldProblems(value: unknown, fields: Readonly<Record<string, Field>>, at: string): string[] {
  if (!isJsonObject(value)) return [`${at}: must be an object`];
  const unknown = Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
  return [
    ...(unknown.length === 0 ? [] : [`${at}: has unknown fields; known are ${Object.keys(fields).join(', ')}`]),
    ...Object.entries(fields).flatMap(([field, { check, isOptional = false }]) => {
      if (value[field] === undefined) return isOptional ? [] : [`${at}.${field}: is required`];
      const problem = check(value[field]);
      return problem === undefined ? [] : [`${at}.${field}: ${problem}`];
    }),
  ];
}
