import { globSync, readFileSync } from 'node:fs';
import { commands } from '../cli/commands.ts';
import { commandsBelow } from '../cli/dispatch.ts';
import { helpText, overview } from '../cli/help/help.ts';
import { allFlags } from '../cli/args/parse.ts';
import { sourceTexts } from './source-texts.ts';

/**
 * `npm run messages [-- ROOM..]`: all that dkc can say on one page, for somebody who reads only that: the help of every command, then every text of the
 * source that is a sentence or part of one (errors, hints, log messages, events, states), by file and line. Too many rather than too few.
 */
const rooms = process.argv.slice(2);
const WIDTH = 110;

/** The source of a regular expression, which no one reads as a message. */
const isPattern = (text: string): boolean => /\\\\?[dswbx]|\(\?[:=!<]|\[\^/.test(text);

/** Two words with a blank between them, somewhere outside of `${...}`, of which one at least is written here: `${a} ${b}` is the key of a cache. */
function isProse(text: string): boolean {
  const written = text.replace(/\$\{[^}]*\}/g, 'X');
  const hasWord = /[a-z]{2}/.test(written) || /'[^']*[a-z]{2} [^']*'/.test(text);
  return !isPattern(text) && hasWord && /[A-Za-z,;:)'"…] +\(?["'`]?[A-Za-z$]/.test(written);
}

if (rooms.length === 0) {
  console.log(`# dkc help\n\n${overview(commands, '')}`);
  for (const entry of commands) {
    const command = await entry.load();
    console.log(`# dkc ${entry.name} --help\n\n${helpText({ ...entry, below: commandsBelow(commands, entry.name) }, command, allFlags(command), WIDTH)}`); // prettier-ignore
  }
}
const chosen = rooms.length === 0 ? ['agent', 'apiserver', 'base', 'cli', 'controllers', 'kube', 'scheduler', 'systemd'] : rooms;
for (const file of chosen.flatMap((room) => globSync(`${room}/**/*.ts`)).sort()) {
  const found = [...sourceTexts(readFileSync(file, 'utf8'))].filter(({ text }) => isProse(text));
  if (found.length > 0) console.log([`# ${file}`, ...found.map(({ line, text }) => `${String(line).padStart(4)}  ${text}`), ''].join('\n'));
}
