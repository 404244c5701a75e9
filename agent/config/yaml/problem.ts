import { type Document, type ErrorCode, isScalar, visit } from 'yaml';

/** What the library's codes mean, in words that fit behind `the text is not YAML: line 5, column 3: `. */
const WORDS: Partial<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias (*) takes neither anchor nor tag',
  BAD_ALIAS: 'an alias (*) needs a name of an anchor behind it',
  BAD_COLLECTION_TYPE: 'the tag does not fit what follows it',
  BAD_DIRECTIVE: 'a line that begins with % must be a directive of YAML',
  BAD_DQ_ESCAPE: 'the backslash in double quotes begins no escape that YAML knows',
  BAD_INDENT: 'the line is not indented as what it belongs to',
  BAD_PROP_ORDER: 'anchors and tags must stand before the mark (-, ? or :) of what follows',
  BAD_SCALAR_START: 'a text that begins with this character needs quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a colon and a blank inside of a value: put the value in quotes, or the second key on a line below',
  BLOCK_IN_FLOW: 'a list or mapping of several lines cannot stand inside of brackets',
  KEY_OVER_1024_CHARS: 'a key must have at most 1024 characters',
  MISSING_CHAR: 'something is missing here: a closing quote or bracket, a comma, a colon, or a blank behind one',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line: is the colon missing in the line before?',
  MULTIPLE_ANCHORS: 'a value takes one anchor (&)',
  MULTIPLE_TAGS: 'a value takes one tag (!)',
  TAB_AS_INDENT: 'a tab where YAML wants blanks: indent with blanks',
  TAG_RESOLVE_FAILED: 'the tag (!) cannot be read',
  UNEXPECTED_TOKEN: 'unexpected here, after the text before it',
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

/** Stretches of a text, in their order; one that begins in another is part of it. */
class Stretches {
  readonly #all: [from: number, to: number][] = [];

  add(from: number, to: number): void {
    const last = this.#all.at(-1);
    if (last === undefined || from > last[1]) this.#all.push([from, to]);
    else last[1] = Math.max(last[1], to);
  }

  /** The end of the last stretch that begins at or before `at`; -1 for none. */
  endBefore(at: number): number {
    let [low, high] = [0, this.#all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#all[middle]?.[0] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    return this.#all[low - 1]?.[1] ?? -1;
  }
}

/**
 * Where a line of block style begins with a tab: goyaml refuses what the YAML library lets pass. A tab may stand at the start of a line
 * inside of brackets and quotes, and after at least one space where an unquoted scalar goes on.
 * @param document - what the library made of `text`; it is gone through once, however many lines begin so
 * @returns the offset of the tab, or undefined
 */
export function misplacedTab(document: Document.Parsed, text: string): number | undefined {
  const [brackets, quotes, blocks, plain] = [new Stretches(), new Stretches(), new Stretches(), new Stretches()];
  visit(document, {
    Node: (_, node) => {
      if (node.range === undefined || node.range === null || !('range' in node)) return;
      const [from, to] = node.range;
      if (isScalar(node)) {
        if (node.type === 'PLAIN') {
          if (node.source !== '') plain.add(from, to);
        } else (node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? quotes : blocks).add(from, to);
      } else if ('flow' in node && node.flow) brackets.add(from, to);
    },
  });
  const end = document.range[2];
  let [seen, lastText] = [0, 0];
  for (const { index: at, [1]: spaces = '' } of text.matchAll(/^( *)\t/gm)) {
    if (at >= end) break;
    // The end of the last text before the line, looked for from where the line before left off.
    for (; seen < at; seen++) if (!/\s/.test(text[seen] ?? '')) lastText = seen + 1;
    const excused =
      brackets.endBefore(at) > at ||
      quotes.endBefore(at) > at ||
      (spaces !== '' && (blocks.endBefore(at) > at || plain.endBefore(at) >= lastText));
    if (!excused) return at + spaces.length;
  }
  return undefined;
}
