/** A string or template of a source file. */
export interface SourceText {
  /** First line is 1. */
  line: number;
  /** Without its quotes; `${...}` of a template stays as it is written. */
  text: string;
}

/** A slash after one of these characters is a division; after any other it starts a regular expression. */
const ENDS_A_VALUE = /[\w$)\]]$/;
const WORDS_BEFORE_A_PATTERN = /\b(?:return|case|typeof|of|in|do|else)$/;

/** Every string and template in `code`, in order; comments and regular expressions have none. */
export function* sourceTexts(code: string): Generator<SourceText> {
  let line = 1;
  let before = '';
  for (let at = 0; at < code.length;) {
    const end = endOfToken(code, at, before);
    const token = code.slice(at, end);
    if (/^['"`]/.test(token)) yield { line, text: token.slice(1, -1) };
    if (!/^\s|^\/[/*]/.test(token)) before = (before + token).slice(-20);
    else if (/^\s/.test(token)) before = `${before.trimEnd()} `;
    line += token.split('\n').length - 1;
    at = end;
  }
}

/** End of the token at `at`. Only tokens that may contain quotes or slashes have more than one character. */
function endOfToken(code: string, at: number, before: string): number {
  const rest = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.test(code) ? pattern.lastIndex : at + 1;
  };
  if (code.startsWith('//', at)) return rest(/[^\n]*/y);
  if (code.startsWith('/*', at)) return rest(/\/\*[\s\S]*?\*\//y);
  const first = code.charAt(at);
  if (first === "'") return rest(/'(?:\\[\s\S]|[^'\\])*'/y);
  if (first === '"') return rest(/"(?:\\[\s\S]|[^"\\])*"/y);
  if (first === '`') return endOfTemplate(code, at);
  const word = before.trimEnd();
  if (first === '/' && (!ENDS_A_VALUE.test(word) || WORDS_BEFORE_A_PATTERN.test(word)))
    return rest(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/\w*/y);
  return at + 1;
}

/** Templates nest: `a ${b.map((c) => `<${c}>`)}`. */
function endOfTemplate(code: string, from: number): number {
  for (let at = from + 1, depth = 0; at < code.length; at++) {
    const one = code.charAt(at);
    if (one === '\\') at++;
    else if (depth === 0 && one === '`') return at + 1;
    else if (depth === 0 && code.startsWith('${', at)) [depth, at] = [1, at + 1];
    else if (depth > 0 && one === '`') at = endOfTemplate(code, at) - 1;
    else if (depth > 0 && (one === "'" || one === '"')) at = endOfToken(code, at, '') - 1;
    else if (depth > 0) depth += one === '{' ? 1 : one === '}' ? -1 : 0;
  }
  return code.length;
}
