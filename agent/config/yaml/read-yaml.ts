import {
  type Alias,
  Composer,
  type Document as YamlDocument,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  Parser,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Json } from '../contract.ts';
import {
  MAX_DEPTH,
  type Document,
  DocumentError,
  Duplicates,
  isObject,
  join,
  joinIndex,
  MAX_BYTES,
  MAX_NODES,
  newObject,
  setKey,
  tooDeep,
  tooManyNodes,
} from '../decode/document.ts';
import { NOT_JSON, plainScalar } from './scalar.ts';
import { hasLeadingTab, misplacedTab, placeAt, yamlProblem } from './problem.ts';

/** The schema returns every scalar as text; scalar.ts applies goyaml's rules. Merge keys and duplicates are handled in this file too. */
const OPTIONS = { version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, logLevel: 'silent', prettyErrors: false } as const;

/**
 * Characters that YAML does not allow; goyaml rejects them, the library does not check. Three more (next line, line and paragraph separator) are
 * line ends for goyaml and text for the library: they do not occur in practice, so they are rejected too.
 */
const FORBIDDEN = /[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ud800-\udfff\ue000-\ufffd]/;

/**
 * The library needs some 20 µs per structural character, and time and memory per character, in a process without an optimizing compiler such as the
 * agent: these limits keep it below 100 ms and 20 MB. A longer text is read only if `readSimpleYaml` can read it.
 */
const MAX_MARKS = 4_000;
const MAX_LETTERS = 64 * 1024;
/** Line ends, commas, brackets, anchors, aliases, tags, directives, and the dashes, colons and question marks of block style. */
const MARK = /[\n,[{&*!%]|[-:?](?=[\0- ]|$)/g;

const BRACKET = /[[\]{}]/g;
const DASHES = new RegExp(`(?:- ){${MAX_DEPTH + 1}}`);
const EXPLICIT_KEY = /^[ -]*\?(?:[ \t]|$)/m;

type Node = Scalar | YAMLMap | YAMLSeq | Alias;

/**
 * Reads the first document of a YAML text as the kubelet does. Later documents are ignored, as in goyaml.
 * @throws {DocumentError} with the line, never the text
 */
export function readYaml(text: string): Document {
  // goyaml reads every kind of line end as a line feed; the library does not count a lone carriage return as a line end.
  const body = (text.startsWith('\ufeff') ? text.slice(1) : text).replaceAll(/\r\n?/g, '\n');
  if (FORBIDDEN.test(body))
    throw new DocumentError(
      'characters',
      'the text holds control characters, which YAML does not allow, or separators that its readers disagree on',
    );
  refuseHuge(body);
  try {
    const document = firstDocument(body);
    if (document === undefined) return { value: null, duplicates: new Duplicates(), inexact: new WeakMap() };
    const problem = document.errors[0];
    if (problem?.code === 'RESOURCE_EXHAUSTION') throw tooDeep();
    if (problem !== undefined) throw syntaxError(body, problem.pos[0], yamlProblem(problem.code));
    if (document.directives.yaml.explicit === true && document.directives.yaml.version !== '1.1') {
      throw new DocumentError('syntax', 'the text asks for a YAML version other than 1.1');
    }
    const tab = hasLeadingTab(body) ? misplacedTab(document, body) : undefined;
    if (tab !== undefined) throw syntaxError(body, tab, yamlProblem('TAB_AS_INDENT'));
    return new Reader(document, body).read();
  } catch (error) {
    // The library overflows the stack only for deep nesting.
    if (error instanceof RangeError) throw tooDeep();
    throw error;
  }
}

function firstDocument(text: string): YamlDocument.Parsed | undefined {
  // Tokens cost time; only explicit keys and tabs need them.
  const composer = new Composer({ ...OPTIONS, keepSourceTokens: EXPLICIT_KEY.test(text) || hasLeadingTab(text) });
  for (const token of new Parser().parse(text)) {
    for (const document of composer.next(token)) return document;
  }
  for (const document of composer.end(false, text.length)) return document;
  return undefined;
}

function refuseHuge(text: string): void {
  MARK.lastIndex = 0;
  let marks = 0;
  while (marks <= MAX_NODES && MARK.test(text)) marks++;
  MARK.lastIndex = 0;
  if (marks <= MAX_MARKS && text.length <= MAX_LETTERS) return;
  if (looksDeep(text)) throw tooDeep();
  if (marks > MAX_NODES) throw tooManyNodes();
  throw new DocumentError(
    'too-large',
    `the text is too large to be read in this style: with more than ${MAX_MARKS} marks of structure or ${MAX_LETTERS} letters it must be plain, one key or item a line, no anchors, tags, escapes or text blocks`,
  );
}

/** Whether the text is large because of nesting. Only for the error text, so brackets in quotes may count. */
function looksDeep(text: string): boolean {
  BRACKET.lastIndex = 0;
  let depth = 0;
  for (let left = MAX_NODES; left > 0; left--) {
    const bracket = BRACKET.exec(text)?.[0];
    if (bracket === undefined) break;
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    if (depth > MAX_DEPTH) return true;
  }
  return DASHES.test(text);
}

function syntaxError(text: string, offset: number, problem: string): DocumentError {
  const { line, column } = placeAt(text, offset);
  return new DocumentError('syntax', `the text is not YAML: line ${line}, column ${column}: ${problem}`, { line });
}

class Reader {
  readonly #root: Node | null;
  readonly #text: string;
  readonly #anchors: Map<string, Node> = new Map();
  readonly #duplicates = new Duplicates();
  /** Anchors being expanded, outermost first. */
  readonly #open: Set<Node> = new Set();
  #decoded = 0;
  #letters = 0;
  #viaAlias = 0;
  #aliasDepth = 0;
  #flowDepth = 0;

  constructor(document: YamlDocument.Parsed, text: string) {
    this.#text = text;
    this.#root = document.contents;
  }

  read(): Document {
    const value = this.#value(this.#root, '', 0);
    return { value, duplicates: this.#duplicates, inexact: new WeakMap() };
  }

  #value(node: Node | null, path: string, depth: number): Json {
    if (depth > MAX_DEPTH) throw tooDeep();
    this.#count();
    if (node === null) return null;
    if (isAlias(node)) return this.#alias(node, (target) => this.#value(target, path, depth + 1));
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isScalar(node)) return this.#scalar(node, path);
    this.#open.add(node);
    const inFlow = node.flow === true ? 1 : 0;
    this.#flowDepth += inFlow;
    const value = isSeq(node) ? this.#list(node, path, depth) : this.#object(node, path, depth);
    this.#flowDepth -= inFlow;
    this.#open.delete(node);
    return value;
  }

  /** goyaml's limit against texts that grow when aliases are expanded: the share of expanded values must not be too large. */
  #count(): void {
    this.#decoded++;
    if (this.#aliasDepth > 0) this.#viaAlias++;
    if (this.#viaAlias > 100 && this.#decoded > 1000 && this.#viaAlias / this.#decoded > 0.99) throw aliases();
    if (this.#decoded > MAX_NODES) throw this.#aliasDepth > 0 ? aliases() : tooManyNodes();
  }

  /** Limits the characters of expanded aliases: a long text with many aliases is small here, but large in the rendered file. */
  #countLetters(many: number): void {
    this.#letters += many;
    if (this.#letters > MAX_BYTES) throw aliases();
  }

  #alias<T>(node: Alias, use: (target: Node) => T): T {
    const target = this.#anchors.get(node.source);
    if (target === undefined) throw new DocumentError('alias', 'the text uses an alias whose anchor is not defined before it');
    if (this.#open.has(target)) throw new DocumentError('alias', 'the text has an anchor that contains itself');
    this.#aliasDepth++;
    const used = use(target);
    this.#aliasDepth--;
    return used;
  }

  #scalar(node: Scalar, path: string): Json {
    if (this.#flowDepth > 0 && node.type === 'PLAIN') {
      // Inside of brackets, goyaml reads an unquoted question mark as the start of a key, and a colon as the start of a value.
      const mark =
        node.source?.includes('?') === true
          ? 'a question mark'
          : node.source?.startsWith(':') === true
            ? 'a text that begins with a colon'
            : '';
      if (mark !== '') throw new DocumentError('syntax', `${path}: ${mark} inside of brackets needs quotes`, { field: path });
    }
    const value = scalarValue(node);
    if (typeof value === 'string') this.#countLetters(value.length);
    if (value === NOT_JSON) throw new DocumentError('number', `${path}: infinity and not-a-number are not allowed`, { field: path });
    return value;
  }

  #list(node: YAMLSeq, path: string, depth: number): Json {
    return node.items.map((item, index) => this.#value(item as Node | null, joinIndex(path, index), depth + 1));
  }

  #object(node: YAMLMap, path: string, depth: number): Json {
    const made = newObject();
    this.#fill(made, node, path, depth);
    return made;
  }

  #fill(made: Record<string, Json>, node: YAMLMap, path: string, depth: number): void {
    for (const pair of node.items) {
      const key = pair.key as Node | null;
      if (node.flow !== true && hasIndentedColon(pair, this.#text)) {
        throw new DocumentError('syntax', `${path}: the colon of an explicit key (?) must stand below its question mark`, { field: path });
      }
      if (isMergeKey(key)) {
        this.#merge(made, pair.value as Node | null, path, depth);
        continue;
      }
      if (node.flow === true && isScalar(key) && key.type === 'PLAIN') this.#needsSpace(key, path);
      const name = this.#key(key, path, depth);
      const inner = join(path, name);
      if (Object.hasOwn(made, name)) this.#duplicates.add(inner);
      setKey(made, name, this.#value(pair.value as Node | null, inner, depth + 1));
    }
  }

  /** Inside of brackets the library ends an unquoted key at a colon without a space after it; goyaml continues the key, or fails. */
  #needsSpace(key: Scalar, path: string): void {
    const end = key.range?.[1] ?? -1;
    if (this.#text[end] === ':' && /[^\s]/.test(this.#text[end + 1] ?? ' ')) {
      throw new DocumentError('syntax', `${path}: a colon inside of brackets needs a space behind it`, { field: path });
    }
  }

  /** goyaml merges keys at the position of the merge key: they override earlier keys, and later keys override them. */
  #merge(made: Record<string, Json>, node: Node | null, path: string, depth: number): void {
    if (depth > MAX_DEPTH) throw tooDeep();
    this.#count();
    if (isAlias(node)) {
      this.#alias(node, (target) => {
        if (!isMap(target)) throw notMergeable();
        this.#open.add(target);
        this.#fill(made, target, path, depth + 1);
        this.#open.delete(target);
      });
    } else if (isMap(node)) {
      if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
      this.#fill(made, node, path, depth + 1);
    } else if (isSeq(node)) {
      for (const item of node.items.toReversed()) {
        if (!isMap(item) && !isAlias(item)) throw notMergeable();
        this.#merge(made, item, path, depth + 1);
      }
    } else throw notMergeable();
  }

  #key(node: Node | null, path: string, depth: number): string {
    const value = this.#value(node, path, depth + 1);
    if (typeof value === 'string') return value;
    if (typeof value === 'boolean') return String(value);
    // The kubelet's YAML reader converts numeric keys to 32 bit floats; whole numbers are kept.
    if (typeof value === 'number') return Number.isInteger(value) ? String(value) : shortFloat(value);
    if (typeof value === 'bigint' && value < 2n ** 63n) return String(value);
    const what = value === null ? 'null' : isObject(value) ? 'an object' : 'a list';
    throw new DocumentError(
      'key',
      `${path === '' ? 'the text' : path} has ${typeof value === 'bigint' ? 'too large a number' : what} as a key`,
    );
  }
}

/** goyaml accepts the colon of an explicit key only in the column of its question mark; the library also accepts it further right. */
function hasIndentedColon({ srcToken }: Pair, text: string): boolean {
  if (srcToken === undefined) return false;
  const mark = srcToken.start.find(({ type }) => type === 'explicit-key-ind');
  const colon = srcToken.sep?.find(({ type }) => type === 'map-value-ind');
  return mark !== undefined && colon !== undefined && columnOf(text, mark.offset) !== columnOf(text, colon.offset);
}

function columnOf(text: string, offset: number): number {
  return offset - text.lastIndexOf('\n', offset - 1);
}

function aliases(): DocumentError {
  return new DocumentError('alias', 'the text grows too large when its aliases are expanded');
}

function notMergeable(): DocumentError {
  return new DocumentError('alias', 'the text merges (<<) something that is not a mapping');
}

function isMergeKey(key: Node | null): boolean {
  return isScalar(key) && key.value === '<<' && (key.tag === undefined ? key.type === 'PLAIN' : key.tag === 'tag:yaml.org,2002:merge');
}

/** The shortest decimal of the same 32 bit float. */
function shortFloat(value: number): string {
  const single = Math.fround(value);
  for (let digits = 1; digits < 9; digits++) {
    const text = single.toPrecision(digits);
    if (Math.fround(Number(text)) === single) return String(Number(text));
  }
  return String(single);
}

const TAG = 'tag:yaml.org,2002:';

function scalarValue(node: Scalar): Json | typeof NOT_JSON {
  const text = typeof node.value === 'string' ? node.value : '';
  const tag = node.tag;
  if (tag === undefined || tag === '!') return node.type === 'PLAIN' && tag === undefined ? plainScalar(text) : text;
  if (!tag.startsWith(TAG)) return text;
  const kind = tag.slice(TAG.length);
  if (kind === 'str') return text;
  if (kind === 'binary') return binary(text);
  if (!['bool', 'int', 'float', 'null', 'timestamp'].includes(kind)) return text;
  const value = plainScalar(text);
  const fits =
    (kind === 'bool' && typeof value === 'boolean') ||
    (kind === 'null' && value === null) ||
    (kind === 'int' && (typeof value === 'bigint' || (Number.isInteger(value) && !/[.eE]/.test(text)))) ||
    (kind === 'float' && (typeof value === 'number' || typeof value === 'bigint' || value === NOT_JSON)) ||
    (kind === 'timestamp' && /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}/.test(text));
  if (!fits) throw new DocumentError('tag', `the text tags a value as ${kind}, but it is not one`);
  return kind === 'timestamp' ? text : value;
}

function binary(text: string): string {
  const packed = text.replaceAll(/[\r\n]/g, '');
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(packed)) {
    throw new DocumentError('tag', 'the text tags a value as binary that is not base64');
  }
  return new TextDecoder().decode(Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0)));
}
