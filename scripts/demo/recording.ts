import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A line of output, and its time, in ms since the start. */
export interface TimedLine {
  atMs: number;
  line: string;
}

/** The command shown in the recording. */
export const COMMAND = 'npm run demo';
export const COLUMNS = 126;
export const ROWS = 27;

/** Runs `dkc demo` from the source. @throws unless it exits with 0 */
export async function playDemo(): Promise<TimedLine[]> {
  const began = performance.now();
  const child = spawn(process.execPath, ['cli/main.ts', 'demo'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1' },
  });
  const lines: TimedLine[] = [];
  const ended = once(child, 'close');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  createInterface({ input: child.stdout }).on('line', (line) => lines.push({ atMs: Math.round(performance.now() - began), line }));
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`dkc demo ended with ${code}:\n${lines.map(({ line }) => line).join('\n')}\n${errors}`);
  return lines;
}

/** An asciicast of version 2: a JSON header, and one line per line of output. */
export function castOf(lines: readonly TimedLine[]): string {
  const header = { version: 2, width: COLUMNS, height: ROWS, command: COMMAND, title: 'dkc demo' };
  return [header, ...lines.map(({ atMs, line }) => [atMs / 1000, 'o', `${line}\r\n`])].map((part) => `${JSON.stringify(part)}\n`).join('');
}

export function readCast(text: string): TimedLine[] {
  const [, ...events] = text.trimEnd().split('\n');
  return events.map((event) => {
    const [seconds, , line] = JSON.parse(event) as [number, string, string];
    return { atMs: Math.round(seconds * 1000), line: line.replace(/\r\n$/, '') };
  });
}

/** A line without values that differ between runs: times, ages, resource versions, random names, ports, column widths. */
export const comparable = ({ line }: Pick<TimedLine, 'line'>): string =>
  line
    .replace(/\/\S*\/dkc-demo-\w+/g, '/tmp/dkc-demo-X')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replace(/^( +)[0-9a-f]{8}(?= )/, '$1REF')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/@\d+/g, '@N')
    .replace(/ResourceVersion: \d+/g, 'ResourceVersion: N')
    .replace(/; last health: .*/, '')
    .replace(/^ *\d+\.\d\d s(?= )/, 'TIME')
    .replace(/\b(?:\d+(?:d|h|m|s))+\b(?: ago\b)?|\bjust now\b/g, 'AGE')
    .replace(/\d+ ms/g, 'N ms')
    .replace(/in \d+\.\d s/, 'in TIME')
    .replace(/\s+/g, ' ')
    .trimEnd();
