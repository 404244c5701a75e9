import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sourceTexts, type SourceText } from './source-texts.ts';

/** Directories with texts that users may read. */
export const MESSAGE_FOLDERS = [
  'agent',
  'apiserver',
  'base',
  'cli',
  'controllers',
  'deploy',
  'kube',
  'scheduler',
  'scripts/package',
  'systemd',
];
/** Tables in a special notation, which users do not see. */
const TABLES = /^(?:agent\/config\/gates\/|apiserver\/kinds\/types\/)/;

/** Whether the text is the source of a regular expression. */
const isPattern = (text: string): boolean => /\\\\?[dswbx]|\(\?[:=!<]|\[\^/.test(text);

/** Whether the text has two words separated by a blank, at least one of them outside of `${...}`: `${a} ${b}` is a cache key, not prose. */
function isProse(text: string): boolean {
  const written = text.replace(/\$\{[^}]*\}/g, 'X');
  const hasWord = /[a-z]{2}/.test(written) || /'[^']*[a-z]{2} [^']*'/.test(text);
  return !isPattern(text) && hasWord && /[A-Za-z,;:)'"…] +\(?["'`]?[A-Za-z$]/.test(written);
}

const lines = (text: string): SourceText[] => text.split('\n').map((line, index) => ({ line: index + 1, text: line }));

/** Texts that a shell script prints: the quoted arguments of its print functions. */
function printedTexts(script: string): SourceText[] {
  return lines(script).flatMap(({ line, text }) =>
    [...text.matchAll(/\b(?:say|fail|refuse|echo)\s+('[^']*'|"[^"$][^"]*"|"\$[^*][^"]*")/g)].map(([, quoted = '']) => ({
      line,
      text: quoted.slice(1, -1),
    })),
  );
}

/** First parts of messages of ActionError and StoreError: the verb is a single word, and the object may be a variable. */
function failuresOf(code: string): SourceText[] {
  const thrown = /(?:Action|Store)Error\(\s*'([^']+)',\s*(?:'([^']*)'|`([^`]*)`|([\w.]+))/g;
  return [...code.matchAll(thrown)].map(({ 1: action = '', 2: plain, 3: template, 4: name = '', index }) => ({
    line: code.slice(0, index).split('\n').length,
    text: `Cannot ${action} ${plain ?? template ?? `\${${name}}`}: ...`,
  }));
}

/** The texts of an HTML page, and of its readable attributes. */
function pageTexts(html: string): SourceText[] {
  return lines(html).flatMap(({ line, text }) => [
    ...[...text.matchAll(/(?:aria-label|placeholder|content)="([^"]*)"/g)].map(([, found = '']) => ({ line, text: found })),
    { line, text: text.replace(/<[^>]*>?/g, '').trim() },
  ]);
}

/** Sentences of a file, and parts of sentences; in doubt a text is included. */
export function textsOf(file: string): SourceText[] {
  const text = readFileSync(file, 'utf8');
  if (/\.[jt]s$/.test(file)) return [...sourceTexts(text)].filter((found) => isProse(found.text)).concat(failuresOf(text));
  if (file.endsWith('.html')) return pageTexts(text).filter((found) => isProse(found.text));
  if (file.endsWith('.yaml')) return lines(text).filter((found) => found.text.includes('#'));
  return printedTexts(text);
}

/** Files in these directories that may have such texts, sorted by name. */
export function messageFiles(folders: readonly string[]): string[] {
  const patterns = folders.flatMap((folder) => [
    `${folder}/**/*.ts`,
    `${folder}/**/assets/*.{js,html}`,
    `${folder}/agent.yaml`,
    `${folder}/**/{dkc,kube*-*,*.sh,post*,pre*}`,
  ]);
  const files = globSync(patterns, { withFileTypes: true }).filter((entry) => entry.isFile());
  return [...new Set(files.map((entry) => join(entry.parentPath, entry.name)))].filter((file) => !TABLES.test(file)).sort();
}
