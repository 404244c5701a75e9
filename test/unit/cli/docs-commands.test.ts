import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { findCommand, leadingFlags, type Found } from '../../../cli/dispatch.ts';
import { parse } from '../../../cli/args/parse.ts';
import { commands } from '../../../cli/commands.ts';
import { readPage, writePage, type Command } from '../../support/console.ts';
import { shownCommands, type ShownCommand } from '../../support/docs-commands.ts';
import { commandsOn, keyOf, ledger } from '../../support/docs-ledger.ts';

const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...globSync('docs/**/*.md')];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
const [, benchmarks = ''] = /const benchmarks: .* = \{([^}]*)\}/.exec(readFileSync('bench/run.ts', 'utf8')) ?? [];
const benchNames = new Set([...benchmarks.matchAll(/^ {2}'?([\w-]+)'?[,:]/gm)].map(([, name]) => name));

/** What a page shows because it is wrong. */
const deliberate = new Set(['dkc agent run --bogus', 'dkc -v agent run --bogus']);

const lease = ['--leader-elect-resource-namespace=dkc-system', '--leader-elect-resource-name=dkc-rollout'];

/** Why nobody can type it; undefined if somebody can. */
async function problemOf({ words, inBlock }: ShownCommand): Promise<string | undefined> {
  if (deliberate.has(words.join(' ')) || (!inBlock && words.includes('...'))) return undefined;
  // With another Lease it would be a second controller beside that of the manifests.
  if (inBlock && words.includes('--controllers=rollout') && !lease.every((flag) => words.includes(flag)))
    return `it lacks ${lease.join(' ')}`;
  if (words[0] === 'npm') return npmProblem(words.slice(1), inBlock);
  return dkcProblem(words.slice(words[0] === 'kubectl' ? 2 : 1), inBlock);
}

async function dkcProblem(argv: readonly string[], inBlock: boolean): Promise<string | undefined> {
  const { leading, following } = leadingFlags(argv[0] === 'help' ? [...argv.slice(1), '--help'] : argv);
  const found: Found = findCommand(commands, following);
  if (found.at === 'unknown') return `there is no command ${found.words}`;
  // dkc COMMAND of a sentence: its own name, or that of several commands.
  if (found.at === 'group') return inBlock && !found.rest.includes('--help') ? 'it names no command' : undefined;
  const command = await found.entry.load();
  try {
    await parse({ ...found.entry, below: [] }, command, [...leading, ...found.rest], 100);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    // A sentence may leave out what a command is about.
    return !inBlock && /: \S+ (is missing|needs a value);/.test(message) ? undefined : message;
  }
}

function npmProblem([verb, script = '', ...rest]: readonly string[], inBlock: boolean): string | undefined {
  if (['ci', 'cit', 'test', 'install'].includes(verb ?? '')) return undefined;
  if (verb !== 'run') return inBlock ? `npm ${verb} is not what a reader of these pages needs` : undefined;
  if (scripts[script] === undefined) return `package.json has no script ${script}`;
  const given = rest.slice(rest.indexOf('--') + 1);
  const unknown = script === 'bench' ? given.find((word) => !word.startsWith('--') && !benchNames.has(word)) : undefined;
  return unknown === undefined ? undefined : `there is no benchmark ${unknown}`;
}

describe('every command line of the docs can be typed', () => {
  for (const page of pages)
    test(page, async () => {
      const problems: string[] = [];
      for (const shown of shownCommands(page)) {
        const problem = await problemOf(shown);
        if (problem !== undefined) problems.push(`${shown.where}: ${shown.words.join(' ')}: ${problem}`);
      }
      assert.deepEqual(problems, []);
    });
});

const told = ({ line, command }: Command): string => `line ${line}: ${command}`;

describe('every command of a page is played by a test, or the ledger says why not', () => {
  for (const page of pages) {
    const commands = commandsOn(page);
    test(page, () => {
      assert.deepEqual(commands.filter((part) => keyOf(page, part) === undefined).map(told), []);
      const used = new Set(commands.map((part) => keyOf(page, part)));
      assert.deepEqual(Object.keys(ledger[page] ?? {}).filter((key) => !used.has(key)), [], 'no command begins so'); // prettier-ignore
      for (const file of Object.values(ledger[page] ?? {}).filter((fate) => fate.startsWith('test/'))) {
        assert.ok(existsSync(file), file);
        assert.ok(readFileSync(file, 'utf8').includes(page.replace(/^docs\//, '')), `${file} does not name ${page}`);
      }
      assert.equal(writePage(readPage(readFileSync(page, 'utf8'))), readFileSync(page, 'utf8'));
    });
  }
  test('and no page is gone', () => assert.deepEqual(Object.keys(ledger).filter((page) => !pages.includes(page)), [])); // prettier-ignore
});
