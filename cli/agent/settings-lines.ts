import { isMap, isScalar, parseDocument, type Scalar } from 'yaml';
import { describeError } from '../../base/errors.ts';

/** One line of the file. */
export interface Setting {
  name: string;
  /** undefined for what is no scalar, and for null. */
  scalar: Written | undefined;
}

export type Written = Pick<Scalar, 'value' | 'source'>;

/**
 * A key with a word, a number, or a text in quotes: all readers of YAML agree on these. The length of a time such as `1m30s` and an address such as
 * `127.0.0.1:10460` are words, though they begin with a digit.
 */
const PLAIN_LINE =
  /^([a-z][A-Za-z]*): +(?:"([^"\\]*)"|'([^']*)'|(true|false)|(0|[1-9][0-9]{0,14})|(?!(?:null|Null|NULL|True|TRUE|False|FALSE)(?: |$))([A-Za-z/][A-Za-z0-9_./@-]*(?::[A-Za-z0-9_./@-]+)*|(?:[0-9]+(?:h|m|s|ms))+|[0-9]+(?:\.[0-9]+){3}:[0-9]+)) *(?:(?<= )#.*)?$/;

/**
 * What an agent.yaml nearly always is, read without the YAML library: loading that took a tenth of the processor time of an agent's start.
 * @returns undefined for a text that holds anything more, or may be broken
 */
export function plainLines(text: string): Setting[] | undefined {
  if (/[^\n -~]/.test(text)) return undefined;
  const read = new Map<string, Setting>();
  for (const line of text.split('\n')) {
    if (/^ *(?:#.*)?$/.test(line)) continue;
    const [, name, double, single, boolean, number, word] = PLAIN_LINE.exec(line) ?? [];
    if (name === undefined || read.has(name)) return undefined;
    const value = boolean === undefined ? (double ?? single ?? word ?? Number(number)) : boolean === 'true';
    read.set(name, { name, scalar: { value, ...(number === undefined ? {} : { source: number }) } });
  }
  return [...read.values()];
}

/**
 * The same of any YAML text.
 * @param refuse - makes the error for a text that is no mapping
 */
export function libraryLines(text: string, refuse: (problem: string, remedy: string) => Error): Setting[] {
  const document = parseDocument(text, { uniqueKeys: true, logLevel: 'silent' });
  const [problem] = document.errors;
  if (problem) throw refuse(firstLine(describeError(problem)), 'fix it');
  const root = document.contents;
  if (root === null || (isScalar(root) && root.value === null)) return [];
  if (!isMap(root)) throw refuse('it is not a YAML mapping', 'see `dkc agent run --help` for the keys');
  return root.items.map(({ key, value }) => ({
    name: isScalar(key) ? String(key.value) : '?',
    scalar: isScalar(value) && value.value !== null ? value : undefined,
  }));
}

const firstLine = (text: string): string => text.split('\n')[0] ?? text;
