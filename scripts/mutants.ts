import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { parseFaults, plant, type Fault } from './mutants/faults.ts';
import { Reach } from './mutants/reach.ts';
import { Trials, type Result } from './mutants/trial.ts';
import { Tree } from './mutants/tree.ts';

const help = `npm run mutants [-- OPTION...]: plants one fault after the other into a copy of the tree and runs the unit tests that reach it.
A fault that no test notices survives; the ones that are known are in scripts/mutants/survivors.json.

  --room ROOM       only faults of this room: agent, apiserver, base, cli, controllers, kube, scheduler; may be given again
  --only WORDS      only faults whose id or file has these words
  --jobs N          faults that are tried at the same time (default: cores)
  --everywhere      also run unit tests of other rooms that reach the file; slow for kube/ and base/
  --timeout SECONDS longest time in which no test ends; longer counts as caught (default: 90)
  --base COMMIT     take the copy from this commit instead of the working tree
  --continue FILE   leave out faults that FILE has a result of, and add the new results to it
  --check           only look whether each pattern fits its file, and the file parses with the fault
  -o, --output      text or json (a line for each fault; default: text)
  -h, --help

Ends with 1 when a fault survives that is not known, or a pattern does not fit.

  npm run mutants -- --room agent --jobs 1
  npm run mutants -- --only scheduler/queue -o json
  npm run mutants -- --continue /tmp/results.jsonl
  npm run mutants -- --check`;

const { values: options } = parseArgs({
  options: {
    room: { type: 'string', multiple: true },
    only: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    everywhere: { type: 'boolean', default: false },
    timeout: { type: 'string', default: '90' },
    base: { type: 'string' },
    continue: { type: 'string' },
    check: { type: 'boolean', default: false },
    output: { type: 'string', short: 'o', default: 'text' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

/** Survivors of the last measurement. */
interface Known {
  commit: string;
  /** Faults that were tried in it. */
  measured?: string;
  survivors: { id: string; why?: string }[];
}

const KNOWN = 'scripts/mutants/survivors.json';

function chosenFaults(): Fault[] {
  const all = globSync('scripts/mutants/*.txt')
    .toSorted()
    .flatMap((path) => parseFaults(basename(path, '.txt'), readFileSync(path, 'utf8')));
  const ids = new Set<string>();
  for (const { id } of all) if (ids.size === ids.add(id).size) throw new Error(`two faults are called ${id}`);
  const { room, only = '' } = options;
  return all.filter((fault) => (room?.includes(fault.room) ?? true) && (fault.id.includes(only) || fault.file.includes(only)));
}

function check(faults: readonly Fault[]): number {
  const read = (file: string): string =>
    options.base === undefined
      ? readFileSync(file, 'utf8')
      : execFileSync('git', ['show', `${options.base}:${file}`], { encoding: 'utf8', stdio: 'pipe' });
  const problems = faults.flatMap((fault) => {
    try {
      plant(fault, read(fault.file));
      return [];
    } catch (error) {
      return [(error as Error).message, ...((error as Error).cause === undefined ? [] : [String((error as Error).cause)])];
    }
  });
  for (const problem of problems) console.error(problem);
  console.log(`${faults.length} faults, ${problems.length} do not fit`);
  return problems.length === 0 ? 0 : 1;
}

async function tryAll(faults: readonly Fault[]): Promise<number> {
  const { commit, survivors } = JSON.parse(readFileSync(KNOWN, 'utf8')) as Known;
  const known = new Set(survivors.map(({ id }) => id));
  const results: Result[] = options.continue !== undefined && existsSync(options.continue) ? resultsIn(options.continue) : [];
  const done = new Set(results.map(({ id }) => id));
  const left = faults.filter(({ id }) => !done.has(id)).values();
  const sound = new Map<string, boolean>();
  const work = async (): Promise<void> => {
    const tree = new Tree(options.base);
    try {
      const trials = new Trials(
        tree,
        new Reach(tree.root),
        { everywhere: options.everywhere, silenceMs: Number(options.timeout) * 1000 },
        sound,
      );
      for (const fault of left) {
        const result = await trials.try(fault);
        results.push(result);
        if (options.continue !== undefined) appendFileSync(options.continue, `${JSON.stringify(result)}\n`);
        console.log(options.output === 'json' ? JSON.stringify(result) : line(result, known));
      }
    } finally {
      tree.remove();
    }
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  const survived = results.filter(({ outcome }) => outcome === 'survived');
  const fresh = survived.filter(({ id }) => !known.has(id));
  if (options.output !== 'json')
    console.log(`${results.length} faults, ${survived.length} survive, ${fresh.length} of them not known at ${commit}`);
  return fresh.length === 0 && results.every(({ outcome }) => outcome !== 'unreadable') ? 0 : 1;
}

function resultsIn(path: string): Result[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((text) => text !== '').map((text) => JSON.parse(text) as Result);
}

function line({ id, file, outcome, by = '', ms, effect }: Result, known: ReadonlySet<string>): string {
  const start = `${outcome.padEnd(10)} ${(ms / 1000).toFixed(1).padStart(6)} s  ${id}`;
  if (outcome === 'survived') return `${start}${known.has(id) ? ' (known)' : ''}\n  ${file}: ${effect}`;
  return `${start}  ${by}`;
}

if (options.help) console.log(help);
else if (options.check) process.exitCode = check(chosenFaults());
else process.exitCode = await tryAll(chosenFaults());
