/*
 * Names the API accepts. Each function returns every problem, in the API server's words, and none for a valid value.
 */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';

const labelRegExp = new RegExp(`^${LABEL}$`);
const subdomainRegExp = new RegExp(`^${SUBDOMAIN}$`);
const qualifiedRegExp = new RegExp(`^${QUALIFIED}$`);
const labelValueRegExp = new RegExp(`^(${QUALIFIED})?$`);
const configKeyRegExp = new RegExp(`^${CONFIG_KEY}$`);

/** DNS-1123 label, at most 63: namespaces. */
export function dnsLabelProblems(value: string): string[] {
  const problems = tooLong(value, 63);
  if (!labelRegExp.test(value)) {
    problems.push(
      withRegExp(
        "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
        LABEL,
        ['my-name', '123-abc'],
      ),
    );
  }
  return problems;
}

/** DNS-1123 subdomain, at most 253: names of nodes, ConfigMaps and most other objects. */
export function dnsSubdomainProblems(value: string): string[] {
  const problems = tooLong(value, 253);
  if (!subdomainRegExp.test(value)) {
    problems.push(
      withRegExp(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        SUBDOMAIN,
        ['example.com'],
      ),
    );
  }
  return problems;
}

/** A key in `data` or `binaryData` of a ConfigMap, at most 253. A valid key is safe as a file name. */
export function configMapKeyProblems(value: string): string[] {
  const problems = tooLong(value, 253);
  if (!configKeyRegExp.test(value)) {
    problems.push(
      withRegExp("a valid config key must consist of alphanumeric characters, '-', '_' or '.'", CONFIG_KEY, [
        'key.name',
        'KEY_NAME',
        'key-name',
      ]),
    );
  }
  if (value === '.') problems.push("must not be '.'");
  else if (value === '..') problems.push("must not be '..'");
  else if (value.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

/** A label's or annotation's key: `name` or `prefix.example/name`. */
export function qualifiedNameProblems(value: string): string[] {
  const parts = value.split('/');
  if (parts.length > 2) {
    return [
      `a qualified name ${withRegExp("must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", QUALIFIED, ['MyName', 'my.name', '123-abc'])} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const problems: string[] = [];
  if (prefix === '') problems.push('prefix part must be non-empty');
  else if (prefix !== undefined) problems.push(...dnsSubdomainProblems(prefix).map((problem) => `prefix part ${problem}`));
  if (name === '') problems.push('name part must be non-empty');
  problems.push(...tooLong(name, 63).map((problem) => `name part ${problem}`));
  if (!qualifiedRegExp.test(name)) {
    problems.push(
      `name part ${withRegExp("must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character", QUALIFIED, ['MyName', 'my.name', '123-abc'])}`,
    );
  }
  return problems;
}

/** A label's value, at most 63; may be empty. */
export function labelValueProblems(value: string): string[] {
  const problems = tooLong(value, 63);
  if (!labelValueRegExp.test(value)) {
    problems.push(
      withRegExp(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
        `(${QUALIFIED})?`,
        ['MyValue', 'my_value', '12345'],
      ),
    );
  }
  return problems;
}

function tooLong(value: string, most: number): string[] {
  return value.length > most ? [`must be no more than ${most} characters`] : [];
}

function withRegExp(problem: string, expression: string, examples: readonly string[]): string {
  const named = examples.map((example, at) => `${at > 0 ? ' or ' : ''}'${example}', `).join('');
  return `${problem} (e.g. ${named}regex used for validation is '${expression}')`;
}
