import { execFile } from 'node:child_process';

/** A command of a block: in `console` each `$ ` line, above what it prints; in `sh` each line. One that a bar, a backslash or a here-document leaves open goes on. */
export interface Command {
  is: 'command';
  block: 'console' | 'sh';
  /** Of the page, from 1. */
  line: number;
  heading: string;
  /** Without the comment behind it. */
  command: string;
  text: string;
  output: string;
}

/** A page with commands and hidden lines `<!-- play: WORDS -->`, in order. */
export type Part = { is: 'text'; text: string } | { is: 'event'; words: string; text: string } | Command;

export const commandsOf = (parts: readonly Part[]): Command[] => parts.filter((part) => part.is === 'command');

export function readPage(page: string): Part[] {
  const parts: Part[] = [];
  let [block, indent, heading] = ['', '', ''];
  for (const [at, line] of page.split('\n').entries()) {
    const last = parts.at(-1);
    const fence = /^( *)```(\w*)/.exec(line);
    const event = /^<!-- play: (.*) -->$/.exec(line)?.[1];
    if (fence) [indent, block] = [fence[1] ?? '', block === '' ? fence[2] || 'plain' : ''];
    if (block === '') heading = /^#+ .*/.exec(line)?.[0] ?? heading;
    const typed = line.slice(indent.length);
    const isShell = ['sh', 'bash'].includes(block) && !fence;
    if (last?.is === 'command' && !fence && goesOn(last)) {
      last.command += `\n${withoutComment(typed)}`;
      last.text += `${line}\n`;
    } else if (isShell ? !/^(#|$)/.test(typed) : block === 'console' && line.startsWith('$ ')) {
      const command = isShell ? withoutComment(typed) : line.slice(2);
      parts.push({ is: 'command', block: isShell ? 'sh' : 'console', line: at + 1, heading, command, text: `${line}\n`, output: '' });
    } else if (last?.is === 'command' && block === 'console') last.output += `${line}\n`;
    else if (event !== undefined) parts.push({ is: 'event', words: event, text: `${line}\n` });
    else if (last?.is === 'text') last.text += `${line}\n`;
    else parts.push({ is: 'text', text: `${line}\n` });
  }
  return parts;
}

const withoutComment = (line: string): string => line.replace(/\s+# .*$/, '');

function goesOn({ command, output }: Command): boolean {
  const [, word] = /<<'?(\w+)'?/.exec(command) ?? [];
  return output === '' && (word === undefined ? /(\||&&|\\)$/.test(command) : !command.endsWith(`\n${word}`));
}

export const writePage = (parts: readonly Part[]): string =>
  parts.map((part) => (part.is === 'command' ? part.text + part.output : part.text)).join('').replace(/\n$/, ''); // prettier-ignore

export interface Typed {
  /** stdout and stderr as a terminal shows them in the end, without blanks at the ends of lines. */
  output: string;
  code: number;
}

export function type(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }): Promise<Typed> {
  return new Promise((resolve) => {
    const child = execFile('bash', ['--norc', '-c', `{ ${command}\n} 2>&1`], { cwd, env, timeout: 300_000 }, (error, stdout) => {
      const shown = stdout.replace(/^.*\r(?=[^\n])/gm, '').replace(/[ \t\r]+$/gm, '').replace(/\n*$/, ''); // prettier-ignore
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
      resolve({ output: stdout === '' ? '' : `${shown}\n`, code });
    });
    child.stdin?.end();
  });
}

/**
 * Where a page and what was printed differ; undefined: they do not. A line `...` of the page, or the end of one, stands for anything. A command that the page
 * shows without output has to end with 0, and in a console block has to print nothing.
 */
export function difference({ block, command, output }: Command, seen: Typed, settled = comparable): string | undefined {
  if (output === '' && seen.code !== 0) return `$ ${command}\n--- ended with ${seen.code}\n${seen.output}`;
  if (block === 'sh') return undefined;
  const [shown, now] = [settled(command, output), settled(command, seen.output)];
  const pattern = shown.split('\n').map((line) => (line === '...' ? '(?:.*\n)*?' : `${line.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/(?:\\\.){3}$/, '.*')}\n`)); // prettier-ignore
  return new RegExp(`^${pattern.join('')}$`).test(`${now}\n`) ? undefined : `$ ${command}\n--- the page\n${shown}\n--- now\n${now}`;
}

/** What RECORD=1 writes below a command: what was printed, unless the page shows a part of just that. */
export const recorded = (part: Command, seen: Typed, settled = comparable): string =>
  part.block === 'sh' || (/^\.\.\.$/m.test(part.output) && difference(part, seen, settled) === undefined) ? part.output : seen.output;

/**
 * An output without what differs from run to run: ages, versions of objects, hashes, sizes, which nodes come first, uids, widths of columns. Of `dkc rollout watch` its last line,
 * and of `dkc rollback` its first, as which of the short moments before or after it are seen is chance.
 */
export function comparable(command: string, output: string): string {
  const lines = output
    .replace(/\b[0-9a-f]{8}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?\b/g, 'UID')
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
