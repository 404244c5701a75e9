import { execFile } from 'node:child_process';

/** A page with `console` blocks and hidden lines `<!-- play: WORDS -->`, in order. */
export type Part =
  { is: 'text'; text: string } | { is: 'event'; words: string; text: string } | { is: 'command'; command: string; output: string };

/** What a page shows of commands: each `$ ` line of a console block with the lines below it; all else as it stands. */
export function readPage(page: string): Part[] {
  const parts: Part[] = [];
  let isConsole = false;
  for (const line of page.split('\n')) {
    const last = parts.at(-1);
    const event = /^<!-- play: (.*) -->$/.exec(line)?.[1];
    if (line.startsWith('```')) isConsole = line === '```console';
    if (isConsole && line.startsWith('$ ')) parts.push({ is: 'command', command: line.slice(2), output: '' });
    else if (isConsole && last?.is === 'command') last.output += `${line}\n`;
    else if (event !== undefined) parts.push({ is: 'event', words: event, text: `${line}\n` });
    else if (last?.is === 'text') last.text += `${line}\n`;
    else parts.push({ is: 'text', text: `${line}\n` });
  }
  return parts;
}

export const writePage = (parts: readonly Part[]): string =>
  parts.map((part) => (part.is === 'command' ? `$ ${part.command}\n${part.output}` : part.text)).join('').replace(/\n$/, ''); // prettier-ignore

/** Runs a command line as a person types it. @returns stdout and stderr as a terminal shows them in the end, without blanks at the ends of lines */
export function type(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile('bash', ['-c', `{ ${command}\n} 2>&1`], { cwd, env, timeout: 300_000 }, (_, stdout) => {
      const shown = stdout.replace(/^.*\r(?=[^\n])/gm, '').replace(/[ \t\r]+$/gm, '').replace(/\n*$/, ''); // prettier-ignore
      resolve(stdout === '' ? '' : `${shown}\n`);
    });
    child.stdin?.end();
  });
}

/**
 * An output without what differs from run to run: ages, versions of objects, hashes, sizes, which nodes come first, widths of columns. Of `dkc rollout watch` its last line,
 * and of `dkc rollback` its first, as which of the short moments before or after it are seen is chance.
 */
export function comparable(command: string, output: string): string {
  const lines = output
    .replace(/\b(?:\d+(?:d|h|m|s))+\b|\b\d+ s\b/g, 'AGE')
    .replace(/\bjust now\b/g, 'AGE ago')
    .replace(/@\d+/g, '@N')
    .replace(/node-[a-z]\b/g, 'NODE')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b(?:[0-9a-f]{12}|\d+ (?:files|not upgraded)|[\d.]+ Mi?B|\d+ inodes|\d{4}-\d\d-\d\d \d\d:\d\d)\b/g, 'VARIES')
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' ').trim())
    .filter((line) => line !== '');
  const [from, to] = command.startsWith('dkc rollout watch') ? [-1, undefined] : command.startsWith('dkc rollback --reason') ? [0, 1] : [0, undefined]; // prettier-ignore
  return lines.slice(from, to).join('\n');
}
