/** Replaces everything that is withheld. */
export const REDACTED = '<redacted>';

/** Longer lines are cut, which bounds the time of the patterns below for any input. In characters. */
const MAX_LINE = 16 * 1024;
/** Maximum number of lines of a PEM block without an end: a key of 16,384 bits has about 200. */
const MAX_PEM_LINES = 300;

const SECRET_WORD =
  'token|passw(?:or)?d|passphrase|secret|credential|api[_-]?key|(?:private|access|client|signing|encryption|ssh|tls)[_-]?key|authorization|cookie|bearer|header|(?<![a-z])(?:pass|pwd|auth|psk|dsn)(?![a-z])|conn(?:ection)?[_-]?str(?:ing)?';
const secretName = new RegExp(SECRET_WORD, 'i');
/** Names of values that give the location of a secret, not its content. */
const placeName = /(?:file|path|dir|directory|ref|name|namespace|type|kind|unit|count|size|seconds|version|mode|policy)s?$/i;

/** Whether a field, flag or variable of this name may hold a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name) && !placeName.test(name);
}

/** Values that reveal nothing under any name. */
const isHarmless = (value: string): boolean => /^["']?(?:true|false|null|none|\d{1,3})?["']?[,;]?$/i.test(value);

const NAME = `[A-Za-z0-9_.-]{0,64}(?:${SECRET_WORD})[A-Za-z0-9_.-]{0,32}`;
const QUOTED = String.raw`\\*"(?:[^"\\]|\\[^"])*(?:\\*"|$)|'[^']*(?:'|$)`;
const pairs = new RegExp(String.raw`(\\*["']?)(${NAME})(\\*["']?)(\s{0,8}(?::=|=|:)\s{0,8})(${QUOTED}|\S[^\n]*)`, 'gi');
const spacedFlag = new RegExp(String.raw`(--?${NAME})(\s{1,8})(?!-)(${QUOTED}|\S+)`, 'gi');
const scheme = /\b(bearer|basic|negotiate|digest)\s{1,8}(?!<)[A-Za-z0-9+/=_.~:-]{6,}/gi;
const userInfo = /\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s"'<>]+@/gi;
const query = /\b([a-z][a-z0-9+.-]{0,20}:\/\/(?:<redacted>@)?[^\s"'<>?]+)\?[^\s"'<>]+/gi;
/** JSON web tokens, bootstrap tokens, and tokens of clouds and code hosts. */
const shapes = [
  /\beyJ[A-Za-z0-9_-]{5,}(?:\.[A-Za-z0-9_-]*){0,4}/g,
  /(?<![a-z0-9.])[a-z0-9]{6}\.[a-z0-9]{16}(?![a-z0-9.])/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|sk-|hvs\.|ya29\.)[A-Za-z0-9_.-]{10,}/g,
];
const runs = [/[A-Za-z0-9+_-]{20,}={0,2}/g, /[A-Za-z0-9+/]{40,}={0,2}/g];
const hashes = /(sha256["']?\s{0,4}[:= @(]\s{0,4}["']?)?\b[a-f0-9]{32,}\b/gi;

/** Looks random, unlike a word, name or number: upper case, lower case and digits, mixed. */
const isRandom = (run: string): boolean => /[A-Z]/.test(run) && /[a-z]/.test(run) && /\d/.test(run);

/**
 * Removes what looks like a secret from any text (logs, messages, units): PEM blocks, values of names such as `password`,
 * credentials in URLs, bearer tokens, and long random-looking runs. In doubt it removes too much.
 */
export function redactText(text: string): string {
  return withoutPem(text).split('\n').map(redactLine).join('\n');
}

function redactLine(whole: string): string {
  let line = whole.length > MAX_LINE ? `${whole.slice(0, MAX_LINE)} <cut>` : whole;
  line = line.replace(userInfo, `$1${REDACTED}@`).replace(query, `$1?${REDACTED}`);
  line = line.replace(pairs, redactPair).replace(scheme, `$1 ${REDACTED}`);
  line = line.replace(spacedFlag, (all, name: string, blank: string) => (isSecretName(name) ? `${name}${blank}${REDACTED}` : all));
  for (const shape of shapes) line = line.replace(shape, REDACTED);
  for (const run of runs) line = line.replace(run, (found) => (isRandom(found) ? REDACTED : found));
  return line.replace(hashes, (found, named: string | undefined) => (named === undefined ? REDACTED : found));
}

function redactPair(all: string, open: string, name: string, close: string, sign: string, value: string): string {
  if (isHarmless(value)) return all;
  const head = `${open}${name}${close}${sign}`;
  const [quote] = /^\\*["']/.exec(value) ?? [];
  const isQuoted = quote !== undefined;
  if (!isSecretName(name)) {
    // The rest of the line may contain further pairs.
    const [word = ''] = isQuoted ? [value] : (/^\S+/.exec(value) ?? []);
    return `${head}${word}${isQuoted ? '' : value.slice(word.length).replace(pairs, redactPair)}`;
  }
  // Keeps the quotes, so that JSON stays valid.
  if (isQuoted) return `${head}${quote}${REDACTED}${quote}`;
  // In `--token=x --v=2` the value ends at the blank. In `token: x y` the end of the value is unknown, so the whole rest is removed.
  if (sign.includes(':')) return `${head}${REDACTED}`;
  const [word = ''] = /^[^\s,;]+/.exec(value) ?? [];
  return `${head}${REDACTED}${value.slice(word.length).replace(pairs, redactPair)}`;
}

const BEGIN = /-----BEGIN ([A-Z0-9 ]{1,40})-----/;

/** Works line by line, since in a log each line of a block follows a time and a name. */
function withoutPem(text: string): string {
  if (!text.includes('-----BEGIN ')) return text;
  const kept: string[] = [];
  let inside = 0;
  for (const line of text.split('\n')) {
    if (inside > 0) {
      const end = line.lastIndexOf('-----END ');
      if (end < 0) {
        inside--;
        continue;
      }
      inside = 0;
      kept.push(`${REDACTED}${afterPem(line.slice(end))}`);
      continue;
    }
    const { text: rest, open } = withoutPemIn(line);
    kept.push(rest);
    if (open) inside = MAX_PEM_LINES;
  }
  return kept.join('\n');
}

const afterPem = (end: string): string => end.replace(/^-----END [A-Z0-9 ]{1,40}(?:-----)?/, '');

function withoutPemIn(line: string): { text: string; open: boolean } {
  let text = '';
  let rest = line;
  for (let found = BEGIN.exec(rest); found; found = BEGIN.exec(rest)) {
    text += `${rest.slice(0, found.index)}<redacted ${found[1]}>`;
    const end = rest.indexOf('-----END ', found.index);
    if (end < 0) return { text, open: true };
    rest = afterPem(rest.slice(end));
  }
  return { text: text + rest, open: false };
}
