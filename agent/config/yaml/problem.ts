import { type Document, type ErrorCode, isCollection, isScalar, visit } from 'yaml';

/** Texts for the library's error codes, to follow `the text is not YAML: line 5, column 3: `. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*) takes neither anchor nor tag',
  BAD_ALIAS: 'an alias (*) needs a name of an anchor behind it',
  BAD_COLLECTION_TYPE: 'the tag does not fit what follows it',
  BAD_DIRECTIVE: 'a line that begins with % must be a directive of YAML',
  BAD_DQ_ESCAPE: 'the backslash in double quotes begins no escape that YAML knows',
  BAD_INDENT: 'the line is not indented as what it belongs to',
  BAD_PROP_ORDER: 'anchors and tags must stand before the mark (-, ? or :) of what follows',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a colon and a space inside of a value: put the value in quotes, or the second key on a line below',
  BLOCK_IN_FLOW: 'a list or mapping of several lines cannot stand inside of brackets',
  KEY_OVER_1024_CHARS: 'a key must have at most 1024 characters',
  MISSING_CHAR: 'something is missing here: a closing quote or bracket, a comma, a colon, or a space after one',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line: is the colon missing in the line before?',
  MULTIPLE_ANCHORS: 'a value takes one anchor (&)',
  MULTIPLE_TAGS: 'a value takes one tag (!)',
  TAB_AS_INDENT: 'a tab where YAML requires spaces: indent with spaces',
  TAG_RESOLVE_FAILED: 'the tag (!) cannot be read',
  UNEXPECTED_TOKEN: 'unexpected text after the end of a value',
};

export function yamlProblem(code: ErrorCode): string {
  return WORDS[code] ?? 'this is not YAML';
}

export interface Place {
  /** From 1. */
  line: number;
  column: number;
}

/** Line and column of an offset. */
export function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf('\n') + 1;
  return { line: before.split('\n').length, column: offset - start + 1 };
}

/** A range of a text: a scalar, or the text between brackets. A tab in or after the range is allowed from column `least` on. */
type Stretch = { from: number; to: number; least: number };

/** The ranges of a text, in their order; a range that begins inside another one is part of it. */
class Stretches {
  readonly #all: Stretch[] = [];

  add(from: number, to: number, least: number): void {
    const last = this.#all.at(-1);
    if (last === undefined || from > last.to) this.#all.push({ from, to, least });
    else last.to = Math.max(last.to, to);
  }

  /** The last range that begins at or before `at`. */
  before(at: number): Stretch | undefined {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#all[middle]?.from ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return this.#all[low - 1];
  }

  holds(at: number): boolean {
    return (this.before(at)?.to ?? -1) > at;
  }
}

/** A tab at the start of a line, or after the indicators at its start: `- `, `? `, and the `: ` of an explicit key. */
const LEADING_TAB = /^( *)((?:[-?:] +)*[-?:]?)\t/gm;

export function hasLeadingTab(text: string): boolean {
  return text.search(LEADING_TAB) >= 0;
}

/**
 * Where a line of block style begins with a tab: goyaml rejects it, the YAML library does not. A tab at the start of a line is allowed inside of
 * brackets and quotes, and, to the right of the parent's indentation, in a block scalar and in the continuation of an unquoted scalar.
 * @param document - the library's result for `text`, with tokens; walked once, for any number of such lines
 * @returns the offset of the tab, or undefined
 */
export function misplacedTab(document: Document.Parsed, text: string): number | undefined {
  const [brackets, quotes, blocks, plain] = [new Stretches(), new Stretches(), new Stretches(), new Stretches()];
  visit(document, {
    Node: (_, node, path) => {
      if (node.range === undefined || node.range === null || !('range' in node)) return;
      const [from, to] = node.range;
      if (isScalar(node)) {
        if (node.type === 'PLAIN') {
          if (node.source !== '') plain.add(from, to, indentAround(path, text) + 1);
        } else if (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE') quotes.add(from, to, 0);
        else blocks.add(from, to, indentOfBlock(text.slice(from, to), indentAround(path, text)));
      } else if (isCollection(node) && node.flow === true) brackets.add(from, to, 0);
    },
  });
  const end = endOf(document, text);
  let [seen, lastText] = [0, 0];
  for (const { index: line, [0]: lead, [1]: spaces = '', [2]: marks = '' } of text.matchAll(LEADING_TAB)) {
    if (line >= end) break;
    // Find the end of the last text before the line; continue at the position of the previous line.
    for (; seen < line; seen++) if (!/\s/.test(text[seen] ?? '')) lastText = seen + 1;
    const [block, scalar] = [blocks.before(line), plain.before(line)];
    const excused =
      brackets.holds(line) ||
      quotes.holds(line) ||
      (block !== undefined && block.to > line
        ? marks !== '' || spaces.length >= block.least
        : scalar !== undefined && (scalar.to > line || (marks === '' && scalar.to >= lastText)) && spaces.length >= scalar.least);
    if (!excused) return line + lead.length - 1;
  }
  return undefined;
}

/** The end of the document; the library leaves out blank lines after a key without a value. */
function endOf({ contents, range }: Document.Parsed, text: string): number {
  let [, , end] = range;
  if (!/^\.\.\./m.test(text.slice(contents?.range?.[2] ?? 0, end))) while (/\s/.test(text[end] ?? '')) end++;
  return end;
}

/** The column of the innermost block mapping or list on the way to a node; -1 where there is none. */
function indentAround(path: readonly unknown[], text: string): number {
  const around = path.findLast((node) => isCollection(node) && node.flow !== true);
  const token = isCollection(around) ? around.srcToken : undefined;
  if (token === undefined || !('items' in token)) return -1;
  const [first] = token.items;
  const mark = first?.start.find(({ type }) => !['space', 'newline', 'comment'].includes(type));
  const offset = mark?.offset ?? first?.key?.offset ?? token.offset;
  return offset - text.lastIndexOf('\n', offset - 1) - 1;
}

/** The column of a block scalar's lines, from its header or from the first line that is not blank; no tab is allowed before it. */
function indentOfBlock(source: string, around: number): number {
  const [header = '', ...lines] = source.split('\n');
  const digit = /^[|>][+-]?([1-9])/.exec(header)?.[1];
  if (digit !== undefined) return Math.max(around, 0) + Number(digit);
  const first = lines.find((line) => /[^ ]/.test(line)) ?? '';
  return /^ *[^ \t]/.test(first) ? first.search(/[^ ]/) : Number.POSITIVE_INFINITY;
}
