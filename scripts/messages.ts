import { commands } from '../cli/commands.ts';
import { commandsBelow } from '../cli/dispatch.ts';
import { helpText, overview } from '../cli/help/help.ts';
import { allFlags } from '../cli/args/parse.ts';
import { MESSAGE_FOLDERS, messageFiles, textsOf } from './message-texts.ts';

/**
 * `npm run messages [-- FOLDER..]`: all texts of dkc on one page, for review: the help of every command, then every text of the
 * source that is a sentence or part of one (errors, hints, log messages, events, states, descriptions of the CRDs, alerts), the output of scripts of units and
 * packages, agent.yaml, and the fleet page, by file and line. In doubt a text is included. Texts of the help are not printed twice.
 */
const folders = process.argv.slice(2);
const WIDTH = 110;
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
const chosen = folders.length === 0 ? MESSAGE_FOLDERS : folders;
for (const file of messageFiles(chosen)) {
  const found = textsOf(file).filter(({ text }) => !shown.has(text));
  if (found.length > 0) console.log([`# ${file}`, ...found.map(({ line, text }) => `${String(line).padStart(4)}  ${text}`), ''].join('\n'));
  texts += found.length;
}
console.error(`${helpLines} lines of help and ${texts} texts of the source`);
