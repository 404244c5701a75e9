import { labelValueProblems, qualifiedNameProblems } from './names.ts';

/** One condition on labels. `notin` and `!=` also hold where the label is absent. */
export type LabelRequirement =
  | { key: string; operator: 'in' | 'notin'; values: readonly string[] }
  | { key: string; operator: 'exists' | 'absent' }
  | { key: string; operator: 'gt' | 'lt'; value: bigint };

/** All must hold; none selects everything. */
export type LabelSelector = readonly LabelRequirement[];

/** An invalid label or field selector (the API answers 400). */
export class SelectorError extends Error {
  override name = 'SelectorError';
}

type Token = { text: string; symbol: boolean; at: number };

/**
 * Reads `a=b,c!=d,e in (x,y),f notin (z),g,!h,i>1`. Empty text selects everything.
 * @throws {SelectorError} naming the place
 */
export function parseLabelSelector(text: string): LabelSelector {
  const tokens = tokenize(text);
  const requirements: LabelRequirement[] = [];
  let at = 0;
  const peek = () => tokens[at];
  const takeSymbol = (symbol: string): boolean => {
    const token = tokens[at];
    if (token === undefined || !token.symbol || token.text !== symbol) return false;
    at++;
    return true;
  };
  const fail = (wanted: string): never => {
    const token = peek();
    const found = token === undefined ? 'the end' : `"${token.text}" at ${token.at + 1}`;
    throw new SelectorError(`unable to parse label selector: found ${found}, expected ${wanted}`);
  };
  const word = (wanted: string): string => {
    const token = tokens[at];
    if (token === undefined || token.symbol) return fail(wanted);
    at++;
    return token.text;
  };
  /** A value may be omitted: `a=` selects the empty string. */
  const value = (): string => {
    const token = tokens[at];
    if (token === undefined || token.symbol) return '';
    at++;
    return token.text;
  };
  const set = (): string[] => {
    if (!takeSymbol('(')) fail('"("');
    const values = [value()];
    while (takeSymbol(',')) values.push(value());
    if (!takeSymbol(')')) fail('"," or ")"');
    return values;
  };
  const requirement = (): LabelRequirement => {
    if (takeSymbol('!')) return { key: word('a label key'), operator: 'absent' };
    const key = word('a label key');
    const token = peek();
    if (token === undefined || token.text === ',') return { key, operator: 'exists' };
    at++;
    switch (token.text) {
      case '=':
      case '==':
        return { key, operator: 'in', values: [value()] };
      case '!=':
        return { key, operator: 'notin', values: [value()] };
      case 'in':
        return { key, operator: 'in', values: set() };
      case 'notin':
        return { key, operator: 'notin', values: set() };
      case '>':
        return { key, operator: 'gt', value: integer(word('a number')) };
      case '<':
        return { key, operator: 'lt', value: integer(word('a number')) };
      default:
        at--;
        return fail('=, !=, ==, in, notin, > or <');
    }
  };
  while (peek() !== undefined) {
    requirements.push(checked(requirement()));
    if (peek() === undefined) break;
    if (!takeSymbol(',')) fail('"," or the end');
    if (peek() === undefined) fail('a label key');
  }
  return requirements;
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const match of text.matchAll(/\s+|==|!=|[=!<>(),]|[^\s=!<>(),]+/g)) {
    const [piece] = match;
    if (piece.trim() === '') continue;
    tokens.push({ text: piece, symbol: /^[=!<>(),]/.test(piece), at: match.index });
  }
  return tokens;
}

/** Go's int64. */
const MAX_INTEGER = 2n ** 63n - 1n;

function integer(text: string): bigint {
  if (!/^-?\d{1,19}$/.test(text) || BigInt(text) > MAX_INTEGER)
    throw new SelectorError(`for 'Gt', 'Lt' operators, the value must be an integer, not "${text}"`);
  return BigInt(text);
}

function checked(requirement: LabelRequirement): LabelRequirement {
  const [problem] = qualifiedNameProblems(requirement.key);
  if (problem !== undefined) throw new SelectorError(`invalid label key "${requirement.key}": ${problem}`);
  const values = 'values' in requirement ? requirement.values : 'value' in requirement ? [String(requirement.value)] : [];
  for (const value of values) {
    const [bad] = labelValueProblems(value);
    if (bad !== undefined) throw new SelectorError(`invalid label value "${value}" of "${requirement.key}": ${bad}`);
  }
  return requirement;
}

/** Whether an object with these labels is selected. */
export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>> | undefined): boolean {
  for (const requirement of selector) if (!holds(requirement, labels)) return false;
  return true;
}

function holds(requirement: LabelRequirement, labels: Readonly<Record<string, string>> | undefined): boolean {
  const { key } = requirement;
  const value = labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (requirement.operator) {
    case 'exists':
      return value !== undefined;
    case 'absent':
      return value === undefined;
    case 'in':
      return value !== undefined && isOneOf(requirement.values, value);
    case 'notin':
      return value === undefined || !isOneOf(requirement.values, value);
    case 'gt':
    case 'lt':
      if (value === undefined || !/^-?\d{1,19}$/.test(value)) return false;
      return requirement.operator === 'gt' ? BigInt(value) > requirement.value : BigInt(value) < requirement.value;
  }
}

/** `metav1.LabelSelector`, as objects carry it. */
export interface LabelSelectorObject {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/**
 * The selector of an object. An empty one selects everything; an absent one selects nothing, which the caller has to check.
 * @throws {SelectorError} for an unknown operator or values where there must be none
 */
export function labelSelectorOf(object: LabelSelectorObject): LabelSelector {
  const exact = Object.entries(object.matchLabels ?? {}).map(([key, value]): LabelRequirement => ({
    key,
    operator: 'in',
    values: [value],
  }));
  const expressions = (object.matchExpressions ?? []).map(({ key, operator, values = [] }): LabelRequirement => {
    switch (operator) {
      case 'In':
      case 'NotIn':
        if (values.length === 0) throw new SelectorError(`values of "${key}" must be specified when operator is 'In' or 'NotIn'`);
        return { key, operator: operator === 'In' ? 'in' : 'notin', values };
      case 'Exists':
      case 'DoesNotExist':
        if (values.length > 0)
          throw new SelectorError(`values of "${key}" may not be specified when operator is 'Exists' or 'DoesNotExist'`);
        return { key, operator: operator === 'Exists' ? 'exists' : 'absent' };
      default:
        throw new SelectorError(`"${operator}" is not a valid label selector operator`);
    }
  });
  return [...exact, ...expressions].map(checked);
}

export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** All must hold; none selects everything. */
export type FieldSelector = readonly FieldRequirement[];

/**
 * Reads `metadata.name=a,spec.nodeName!=b` with `\,`, `\=` and `\\` escaped in values. The caller checks which fields a kind supports.
 * @throws {SelectorError} naming the term
 */
export function parseFieldSelector(text: string): FieldSelector {
  return (text.match(/(?:\\[\s\S]|[^,\\])+|\\$/g) ?? []).map((term) => {
    const match = /^([^=!\\]+)(!=|==?)([\s\S]*)$/.exec(term);
    const [, field = '', operator = '', raw = ''] = match ?? [];
    if (match === null) throw new SelectorError(`invalid selector: "${text}"; can't understand "${term}"`);
    if (!/^(?:\\[\\,=]|[^\\=])*$/.test(raw)) throw new SelectorError(`invalid field selector: "${raw}" has a bad escape or a bare "="`);
    return { field, operator: operator === '!=' ? '!=' : '=', value: raw.replace(/\\([\s\S])/g, '$1') };
  });
}

/** Writes a value so that {@link parseFieldSelector}, and every API server, reads it back. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, String.raw`\$&`);
}

/** The field selector of the object of this name. */
export const nameSelector = (name: string): string => `metadata.name=${escapeFieldValue(name)}`;

/** Whether an object is selected. `fieldOf` gives the field's text; an absent field counts as empty, as on the API server. */
export function matchesFields(selector: FieldSelector, fieldOf: (field: string) => string | undefined): boolean {
  return selector.every(({ field, operator, value }) => ((fieldOf(field) ?? '') === value) === (operator === '='));
}

/** Lists of at least this length are searched by way of a set. */
const MIN_SET = 32;

const sets = new WeakMap<readonly string[], ReadonlySet<string>>();

/** Whether a list holds a value. @param list - must never change, like lists in cached objects */
export function isOneOf(list: readonly string[], value: string): boolean {
  if (list.length < MIN_SET) return list.includes(value);
  let set = sets.get(list);
  if (set === undefined) sets.set(list, (set = new Set(list)));
  return set.has(value);
}
