import type { Json } from '../contract.ts';
import { MAX_NODES, newObject, setKey } from '../decode/document.ts';
import { NOT_JSON, plainScalar } from './scalar.ts';

const MAX_DEPTH = 50;
/**
 * A line of block style: dashes, a key, a value, a comment. Only values that all YAML readers read alike. Runs of spaces are matched as a whole
 * (a lookahead and a back-reference): backtracking over them would take quadratic time.
 */
const LINE =
  /^(?=( *))\1(- )?(?:([A-Za-z][A-Za-z0-9_./-]{0,100}):(?= |$)(?=( *))\4)?(?:([A-Za-z0-9/.](?:[A-Za-z0-9_./:%+=<@,-]*[A-Za-z0-9_./%+=@-])?|-[0-9][0-9A-Za-z.]*|~)|"([^"\\]*)"|'([^']*)'|(\{[^{}#]*\}|\[[^[\]#]*\]))? *(?:(?<= )#.*)?$/;
/** One entry between brackets on one line: a word, with a key in curly brackets. */
const ENTRY = /^(?:([A-Za-z][A-Za-z0-9_./-]{0,100}): )?(?:([A-Za-z0-9/.][A-Za-z0-9_./%+@-]*)|"([^"\\]*)"|'([^']*)')$/;
const BLANK = /^ *(?:#.*)?$/;

interface Line {
  indent: number;
  dash: boolean;
  key: string | undefined;
  /** undefined for a key without a value on the line. */
  value: Json | undefined;
}

/**
 * Reads the form of nearly every configuration: block style, one line per key or item, plain or quoted words, brackets on one line. Many times faster
 * than `readYaml`, which reads all other texts: nothing is rejected here.
 * @returns undefined for a text that may have anything else, or that may be invalid
 */
export function readSimpleYaml(text: string): Json | undefined {
  if (/[^\n -~]/.test(text)) return undefined;
  const lines: Line[] = [];
  // Line by line, so that a text with a million empty lines is given up early.
  for (let [at, count] = [0, 0]; at <= text.length; count++) {
    if (count > MAX_NODES) return undefined;
    const next = text.indexOf('\n', at);
    const line = text.slice(at, next < 0 ? text.length : next);
    const isMarker = at === 0 && line === '---';
    at = next < 0 ? text.length + 1 : next + 1;
    if (isMarker || BLANK.test(line)) continue;
    const read = lineOf(line);
    if (read === undefined) return undefined;
    lines.push(read);
  }
  const [first] = lines;
  if (first === undefined || first.dash) return undefined;
  const reader = new Reader(lines);
  const value = reader.mapping(first.indent, 0);
  return reader.at === lines.length ? value : undefined;
}

function lineOf(line: string): Line | undefined {
  const found = LINE.exec(line);
  if (found === null) return undefined;
  const [, spaces = '', dash, key, , plain, double, single, brackets] = found;
  // YAML 1.1 does not read `on` as a string key, and a dash needs a value.
  if (key === undefined ? dash === undefined : plainScalar(key) !== key) return undefined;
  const value = brackets === undefined ? scalarOf(plain, double, single) : between(brackets);
  // A value that is not of a known form, or a dash without a value.
  if (value === undefined && (key === undefined || brackets !== undefined || plain !== undefined)) return undefined;
  return { indent: spaces.length, dash: dash !== undefined, key, value };
}

function scalarOf(plain: string | undefined, double: string | undefined, single: string | undefined): Json | undefined {
  if (plain === undefined) return double ?? single;
  const value = plainScalar(plain);
  return value === NOT_JSON ? undefined : value;
}

/** `[a, b]` and `{ a: b, c: d }`, without nesting. */
function between(brackets: string): Json | undefined {
  const made = newObject();
  const items: Json[] = [];
  const curly = brackets.startsWith('{');
  const inside = brackets.slice(1, -1).trim();
  for (const entry of inside === '' ? [] : inside.split(', ')) {
    const [, key, plain, double, single] = ENTRY.exec(entry) ?? [];
    const value = scalarOf(plain, double, single);
    if (value === undefined || curly !== (key !== undefined)) return undefined;
    if (key === undefined) items.push(value);
    else if (plainScalar(key) !== key || Object.hasOwn(made, key)) return undefined;
    else setKey(made, key, value);
  }
  return curly ? made : items;
}

/** Builds the value by indentation. Stops at the first line that does not fit, which the caller detects by `at`. */
class Reader {
  at = 0;
  readonly #lines: readonly Line[];

  constructor(lines: readonly Line[]) {
    this.#lines = lines;
  }

  mapping(indent: number, depth: number): Json {
    const made = newObject();
    for (;;) {
      const line = this.#lines[this.at];
      if (line === undefined || line.indent !== indent || line.dash || line.key === undefined) return made;
      if (depth > MAX_DEPTH || Object.hasOwn(made, line.key)) return this.#giveUp();
      this.at++;
      setKey(made, line.key, line.value === undefined ? this.#below(indent, depth) : line.value);
    }
  }

  /** The value below a key that has no value on its line. */
  #below(indent: number, depth: number): Json {
    const next = this.#lines[this.at];
    if (next === undefined) return null;
    if (next.dash && next.indent >= indent) return this.#list(next.indent, depth + 1);
    return next.indent > indent ? this.mapping(next.indent, depth + 1) : null;
  }

  #list(indent: number, depth: number): Json {
    const made: Json[] = [];
    for (;;) {
      const line = this.#lines[this.at];
      if (line === undefined || line.indent !== indent || !line.dash) return made;
      if (line.key === undefined) {
        this.at++;
        made.push(line.value ?? null);
      } else {
        // The keys of an item are in the column of its first key, after the dash.
        line.indent += 2;
        line.dash = false;
        made.push(this.mapping(line.indent, depth + 1));
      }
    }
  }

  #giveUp(): null {
    this.at = Number.POSITIVE_INFINITY;
    return null;
  }
}
