import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commands } from '../cli/commands.ts';
import { commandsBelow } from '../cli/dispatch.ts';
import { helpText, overview } from '../cli/help/help.ts';
import { allFlags } from '../cli/args/parse.ts';
import { sourceTexts, type SourceText } from './source-texts.ts';

/**
 * `npm run messages [-- FOLDER..]`: all that dkc can say on one page, for somebody who reads only that: the help of every command, then every text of the
 * source that is a sentence or part of one (errors, hints, log messages, events, states, descriptions of the CRDs, alerts), what the scripts of units and
 * packages print, agent.yaml, and the fleet page, by file and line. Too many rather than too few. The help's own texts are not printed twice.
 */
const folders = process.argv.slice(2);
const WIDTH = 110;
const FOLDERS = ['agent', 'apiserver', 'base', 'cli', 'controllers', 'deploy', 'kube', 'scheduler', 'scripts/package', 'systemd'];
/** Tables in a notation of their own, which no user sees. */
const TABLES = /^(?:agent\/config\/gates\/|apiserver\/kinds\/types\/)/;

/** The source of a regular expression, which no one reads as a message. */
const isPattern = (text: string): boolean => /\\\\?[dswbx]|\(\?[:=!<]|\[\^/.test(text);

/** Two words with a blank between them, somewhere outside of `${...}`, of which one at least is written here: `${a} ${b}` is the key of a cache. */
function isProse(text: string): boolean {
  const written = text.replace(/\$\{[^}]*\}/g, 'X');
  const hasWord = /[a-z]{2}/.test(written) || /'[^']*[a-z]{2} [^']*'/.test(text);
  return !isPattern(text) && hasWord && /[A-Za-z,;:)'"…] +\(?["'`]?[A-Za-z$]/.test(written);
}

const lines = (text: string): SourceText[] => text.split('\n').map((line, index) => ({ line: index + 1, text: line }));

/** What a shell script prints: the quoted texts behind its words for that. */
function printedTexts(script: string): SourceText[] {
  return lines(script).flatMap(({ line, text }) =>
    [...text.matchAll(/\b(?:say|fail|refuse|echo)\s+('[^']*'|"[^"$][^"]*"|"\$[^*][^"]*")/g)].map(([, quoted = '']) => ({
      line,
      text: quoted.slice(1, -1),
    })),
  );
}

/** The texts of an HTML page and those of its attributes that are read. */
function pageTexts(html: string): SourceText[] {
  return lines(html).flatMap(({ line, text }) => [
    ...[...text.matchAll(/(?:aria-label|placeholder|content)="([^"]*)"/g)].map(([, found = '']) => ({ line, text: found })),
    { line, text: text.replace(/<[^>]*>?/g, '').trim() },
  ]);
}

function textsOf(file: string): SourceText[] {
  const text = readFileSync(file, 'utf8');
  if (/\.[jt]s$/.test(file)) return [...sourceTexts(text)].filter((found) => isProse(found.text));
  if (file.endsWith('.html')) return pageTexts(text).filter((found) => isProse(found.text));
  if (file.endsWith('.yaml')) return lines(text).filter((found) => found.text.includes('#'));
  return printedTexts(text);
}

const shown = new Set<string>();
let helpLines = 0;
if (folders.length === 0) {
  const pages = [`# dkc help\n\n${overview(commands, '')}`];
  for (const entry of commands) {
    const command = await entry.load();
    const flags = allFlags(command);
    pages.push(
      `# dkc ${entry.name} --help\n\n${helpText({ ...entry, below: commandsBelow(commands, entry.name) }, command, flags, WIDTH)}`,
    );
    const parts = [entry.name, entry.summary, entry.group, command.describe, ...command.examples.flatMap(({ run, what }) => [run, what])];
    const described = [...command.positionals, ...flags].map(({ text }) => text);
    for (const part of [...parts, ...described]) shown.add(part);
  }
  helpLines = pages.join('\n').split('\n').length;
  console.log(pages.join('\n'));
}

let texts = 0;
const chosen = folders.length === 0 ? FOLDERS : folders;
const patterns = chosen.flatMap((folder) => [
  `${folder}/**/*.ts`,
  `${folder}/**/assets/*.{js,html}`,
  `${folder}/agent.yaml`,
  `${folder}/**/{dkc,kube*-*,*.sh,post*,pre*}`,
]);
const files = globSync(patterns, { withFileTypes: true }).filter((entry) => entry.isFile());
for (const file of [...new Set(files.map((entry) => join(entry.parentPath, entry.name)))].sort()) {
  if (TABLES.test(file)) continue;
  const found = textsOf(file).filter(({ text }) => !shown.has(text));
  if (found.length > 0) console.log([`# ${file}`, ...found.map(({ line, text }) => `${String(line).padStart(4)}  ${text}`), ''].join('\n'));
  texts += found.length;
}
console.error(`${helpLines} lines of help and ${texts} texts of the source`);
