import { readFileSync } from 'node:fs';

/** A command line of dkc or npm that a page shows. */
export interface ShownCommand {
  /** `docs/page.md:12`. */
  where: string;
  /** Its words, without quotes, redirections and comment. The first is `dkc`, `kubectl` or `npm`. */
  words: readonly string[];
  /** In a block, where it is complete; else it stands in a sentence, which may name a command alone. */
  inBlock: boolean;
}

export function shownCommands(path: string): ShownCommand[] {
  const found: ShownCommand[] = [];
  let block: string | undefined;
  let held = '';
  for (const [at, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const where = `${path}:${at + 1}`;
    const [, fence] = /^\s*```(\w*)/.exec(line) ?? [];
    if (fence !== undefined) block = block === undefined ? fence : undefined;
    else if (block === undefined)
      for (const [, code = ''] of line.matchAll(/`([^`]+)`/g)) found.push(...commandsOf(sentence(code), { where, inBlock: false }));
    else {
      held += typedText(block, line);
      if (held.endsWith('\\')) held = held.slice(0, -1);
      else {
        found.push(...commandsOf(held, { where, inBlock: true }));
        held = '';
      }
    }
  }
  return found;
}

/** A command in a sentence: a cell of a table escapes bars, brackets stand around what may be left out, and N is a number. */
const sentence = (code: string): string =>
  code
    .replaceAll('\\|', '|')
    .replace(/ \[(-[^\]]*)\]/g, ' $1')
    .replace(/=N$/, '=1');

/** What of a line of a block a person types; '' for output. */
function typedText(block: string, line: string): string {
  if (block === 'sh' || block === 'bash') return line;
  const [, prompted] = /^[$#] (.*)/.exec(line) ?? [];
  if (block === 'console') return line.startsWith('$ ') ? (prompted ?? '') : '';
  return block === 'text' ? (prompted ?? (/^(dkc|npm run|kubectl dkc) [a-z]/.test(line) ? line : '')) : '';
}

/** What may stand before a command that is run all the same. */
const before = /^(?:(?:[A-Z_]+=\S*|do|then|sudo|exec|time|!|ssh \S+) )*$/;

function commandsOf(text: string, of: Pick<ShownCommand, 'where' | 'inBlock'>): ShownCommand[] {
  return simpleCommands(text).flatMap((words) => {
    const at = words.findIndex((word, n) => ['dkc', 'npm'].includes(word) || (word === 'kubectl' && words[n + 1] === 'dkc'));
    return at >= 0 && before.test(words.slice(0, at).map((word) => `${word} `).join('')) ? [{ ...of, words: words.slice(at) }] : []; // prettier-ignore
  });
}

const separators = new Set(['|', '||', '&&', ';', '&']);

/** The words of each command of a shell line. What `$(...)` gives is one word of some text; the commands inside are commands of the line too. */
export function simpleCommands(text: string): string[][] {
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
