import type { ErrorCode } from 'yaml';

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
  UNEXPECTED_TOKEN: 'this does not fit what stands before it',
};

export function yamlProblem(code: ErrorCode): string {
  return WORDS[code] ?? 'this is no YAML';
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
