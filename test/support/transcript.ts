import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';

/** One exchange: what is done, and what is seen to happen. */
type Exchange = { comments: string[]; commands: string[]; expected: string[] };

/**
 * Replays a transcript (style 4). Comments begin with `#`; then commands, a line of dashes, and what they made happen, up to an empty
 * line. RECORD=1 writes down what happened instead; a person reads the difference.
 * @param run - does one command. @returns what was seen, line by line
 */
export async function replay(path: string, run: (command: string) => Promise<string[]>): Promise<void> {
  const text = await readFile(path, 'utf8');
  const exchanges = parseTranscript(text);
  assert.ok(exchanges.length > 0, `${path} holds no exchange`);
  const seen: Exchange[] = [];
  for (const exchange of exchanges) {
    const lines: string[] = [];
    for (const command of exchange.commands) lines.push(...(await run(command)));
    seen.push({ ...exchange, expected: lines });
    if (process.env['RECORD'] === undefined) assert.deepEqual(lines, exchange.expected, `${path}: after ${exchange.commands.join(', ')}`);
  }
  if (process.env['RECORD'] !== undefined) await writeFile(path, printTranscript(seen));
}

function parseTranscript(text: string): Exchange[] {
  return text
    .split(/\n{2,}/)
    .map((block) => block.split('\n').filter((line) => line !== ''))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const comments = lines.filter((line) => line.startsWith('#'));
      const rest = lines.filter((line) => !line.startsWith('#'));
      const cut = rest.findIndex((line) => /^-{4,}$/.test(line));
      const [commands, expected] = cut < 0 ? [rest, []] : [rest.slice(0, cut), rest.slice(cut + 1)];
      return { comments, commands, expected };
    });
}

function printTranscript(exchanges: readonly Exchange[]): string {
  return `${exchanges.map(({ comments, commands, expected }) => [...comments, ...(commands.length > 0 ? [...commands, '----', ...expected] : [])].join('\n')).join('\n\n')}\n`; // prettier-ignore
}
