import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { writeFileSync } from 'node:fs';
import { comparable, difference, readPage, recorded, type, writePage, type Command, type Typed } from './console.ts';
import { isPlayedBy, pageOf, pathOf } from './docs-ledger.ts';

export interface Player {
  shell: { cwd: string; env: Record<string, string> };
  /** What is called otherwise where they are typed: [on the page, there]. */
  words?: readonly (readonly [string, string])[];
  /** What the words of a hidden line `<!-- play: WORDS -->` mean. */
  happen?: (words: string) => Promise<unknown>;
  /** What runs until somebody ends it and prints a line when it works: how commands begin, and what is looked at then. It ends with the page. */
  lasting?: Readonly<Record<string, () => Promise<unknown>>>;
  settled?: (command: string, output: string) => string;
}

/** Types the commands of a page that the ledger gives to a test file. With RECORD=1 the page is rewritten; else it has to show what was printed. */
export async function play(file: string, page: string, { shell, words = [], happen, lasting = {}, settled }: Player): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const path = new URL(`../../${page}`, import.meta.url);
  const parts = readPage(await readFile(path, 'utf8'));
  const differences: string[] = [];
  let typed = 0;
  for (const part of parts) {
    if (part.is === 'event') await happen?.(part.words);
    if (!isPlayedBy(file, page, part)) continue;
    typed += 1;
    const command = words.reduce((text, [shown, here]) => text.replaceAll(shown, here), part.command);
    const look = Object.entries(lasting).find(([start]) => part.command.startsWith(start))?.[1];
    if (look !== undefined) {
      ends.use(await start(command, shell));
      await look();
      continue;
    }
    const seen = await type(command, shell);
    for (const [shown, here] of words) seen.output = seen.output.replaceAll(here, shown);
    differences.push(...compared(part, seen, settled));
  }
  assert.ok(typed > 0, `${file} plays nothing of ${page}`);
  if (process.env['RECORD'] !== undefined) await writeFile(path, writePage(parts));
  else assert.deepEqual(differences, [], `${page} shows something else; RECORD=1 writes it`);
}

/** Where the page shows something else than was printed; in the part stands what was printed from now on. */
function compared(part: Command, seen: Typed, settled?: Player['settled']): string[] {
  const differs = difference(part, seen, settled);
  part.output = recorded(part, seen, settled);
  return differs === undefined ? [] : [differs];
}

/** A command that goes on, once it has printed a line: that it works. @throws where it ends before */
export async function start(command: string, { cwd, env }: Player['shell']): Promise<AsyncDisposable> {
  const child = spawn('bash', ['-c', `exec ${command}`], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const ended = once(child, 'close');
  const first = await Promise.race([once(child.stdout, 'data'), ended]);
  assert.ok(first.length === 1, `${command} ended: ${said}`);
  child.stdout.resume();
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}

/**
 * Holds a page to what those of its commands printed that this test plays; with RECORD=1 it is written there.
 * @returns where they differ
 */
export function held(page: string, test: string, printed: (part: Command) => Typed | undefined, settled = comparable): string[] {
  const parts = pageOf(page);
  const differences: string[] = [];
  for (const part of parts.filter((one) => isPlayedBy(test, page, one))) {
    const seen = printed(part) ?? { output: '', code: -1 };
    differences.push(...compared(part, seen, settled));
  }
  if (process.env['RECORD'] === undefined) return differences;
  writeFileSync(pathOf(page), writePage(parts));
  return [];
}
