import { readFileSync } from 'node:fs';
import { commandsOf, readPage } from './console.ts';

/** A command line of dkc or npm that a page shows. */
export interface ShownCommand {
  /** `docs/page.md:12`. */
  where: string;
  /** Its words, without quotes, redirections and comment. The first is `dkc`, `kubectl` or `npm`. */
  words: readonly string[];
  /** In a block, where it is complete; else it stands in a sentence, which may name a command alone. */
  inBlock: boolean;
}

/** All of them on one page, those of blocks first. */
export function shownCommands(path: string): ShownCommand[] {
  const page = readFileSync(path, 'utf8');
  const shown = (text: string, line: number, inBlock: boolean) => named(text, { where: `${path}:${line}`, inBlock });
  const inBlocks = commandsOf(readPage(page)).flatMap(({ command, line }) => shown(command.replaceAll('\\\n', ''), line, true));
  const sentences = page.replaceAll(/^( *)```[^]*?^\1```/gm, (block) => block.replaceAll(/[^\n]/g, '')).split('\n');
  const inSentences = sentences.flatMap((line, at) =>
    [...line.matchAll(/`([^`]+)`/g)].flatMap(([, code = '']) => shown(sentence(code), at + 1, false)),
  );
  return [...inBlocks, ...inSentences];
}

/** A command in a sentence: a cell of a table escapes bars, brackets stand around what may be left out, and N is a number. */
const sentence = (code: string): string => code.replaceAll('\\|', '|').replace(/ \[(-[^\]]*)\]/g, ' $1').replace(/=N$/, '=1'); // prettier-ignore

/** What may stand before a command that is run all the same. */
const before = /^(?:(?:[A-Z_]+=\S*|do|then|sudo|exec|time|!|ssh \S+) )*$/;

function named(text: string, of: Pick<ShownCommand, 'where' | 'inBlock'>): ShownCommand[] {
  return text.split('\n').flatMap(simpleCommands).flatMap((words) => {
    const at = words.findIndex((word, n) => ['dkc', 'npm'].includes(word) || (word === 'kubectl' && words[n + 1] === 'dkc'));
    return at >= 0 && before.test(words.slice(0, at).map((word) => `${word} `).join('')) ? [{ ...of, words: words.slice(at) }] : [];
  }); // prettier-ignore
}

const separators = new Set(['|', '||', '&&', ';', '&']);

/** The words of each command of a shell line. What `$(...)` gives is one word of some text; the commands inside are commands of the line too. */
function simpleCommands(text: string): string[][] {
  const inner = [...text.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, command = '']) => simpleCommands(command));
  const tokens = text.replace(/\$\([^()]*\)/g, 'x').match(/#(?<=(?:^|\s)#).*|\|\||&&|[|;&](?<!>&)|(?:\d?>{1,2}(?:&\d)?|<)|(?:'[^']*'|"[^"]*"|[^\s'"|;&<>])+/g) ?? []; // prettier-ignore
  const commands: string[][] = [[]];
  let isTarget = false;
  for (const token of tokens) {
    if (token.startsWith('#')) break;
    if (separators.has(token)) commands.push([]);
    else if (/^(\d?>{1,2}|<)$/.test(token)) isTarget = true;
    else if (/^\d?>{1,2}&\d$/.test(token)) continue;
    else if (isTarget) isTarget = false;
    else commands.at(-1)?.push(token.replace(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return [...commands.filter((words) => words.length > 0), ...inner];
}
