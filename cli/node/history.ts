import { nodeSide, nodeSideFlags } from './node-side.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import type { JournalLine } from '../../agent/store/store.ts';
import { fine } from '../command.ts';
import { checkWatch, type Column, formatOf, peopleFor, show, table, tableLines } from '../output/output.ts';
import { jsonText } from '../output/printable.ts';
import type { Args } from '../args/args.ts';
import type { Command, Context } from '../command.ts';
import type { Millis } from '../../base/clock.ts';

export const history: Command = {
  describe: "Prints the history of this node's configuration, oldest first; the last 1,000 transitions are kept.",
  examples: [
    { run: 'dkc history -n 20', what: 'the newest twenty' },
    { run: 'dkc history -n 5 -w', what: 'the newest five, and each further one as it happens' },
    { run: 'dkc history -o json', what: 'for scripts' },
  ],
  flags: [
    ...nodeSideFlags(),
    { name: 'lines', alias: 'n', type: 'number', value: 'N', text: 'only the newest N', defaultText: 'all' },
    { name: 'watch', alias: 'w', type: 'boolean', text: 'keep watching, and print each further transition' },
  ],
  positionals: [],
  async run(context, args) {
    checkWatch(args, 'history');
    const { store } = await nodeSide(context, args);
    const all = await store.journal();
    const count = args.number('lines');
    const lines = count === undefined ? all : all.slice(Math.max(0, all.length - count));
    if (args.on('watch')) return follow(context, args, all, lines, () => store.journal());
    await show(context, args, {
      data: lines.map(dataOf),
      people: (how) => {
        if (all.length === 0) return 'No history.\n';
        return lines.length === 0 ? `None of ${all.length} lines shown.\n` : table(columns(how.wide), lines, how);
      },
    });
    return fine;
  },
};

const dataOf = ({ at, event, source, detail }: JournalLine): JournalLine => ({ at, event, source, detail });

/** Polling interval of the file, which another process writes. */
export const WATCH_MS: Millis = 1_000;

/** Prints `first`, then the entries after `all`, until the user interrupts. @throws the signal's reason */
async function follow(
  context: Context,
  args: Args,
  all: readonly JournalLine[],
  first: readonly JournalLine[],
  read: () => Promise<readonly JournalLine[]>,
): Promise<never> {
  const { clock, signal, stdout } = context;
  const people = peopleFor(context, args);
  let widths: number[] = [];
  let headers = people.headers !== false;
  const print = (lines: readonly JournalLine[]): void => {
    if (formatOf(args) === 'json') for (const line of lines) stdout.write(jsonText(dataOf(line), 0));
    else {
      const drawn = tableLines(columns(people.wide), lines, { ...people, headers }, widths);
      [widths, headers] = [drawn.widths, false];
      stdout.write(drawn.text);
    }
  };
  const name = (line: JournalLine | undefined): string => JSON.stringify(line);
  print(first);
  for (let seen = all; ;) {
    await clock.sleep(WATCH_MS, signal);
    const now = await read();
    const last = name(seen.at(-1));
    print(now.slice(now.findLastIndex((line) => name(line) === last) + 1));
    seen = now;
  }
}

const columns = (wide: boolean): Column<JournalLine>[] => [
  { title: 'AT', value: ({ at }) => at },
  { title: 'EVENT', value: ({ event }) => event },
  { title: 'SOURCE', value: ({ source }) => sourceText(source) },
  ...(wide ? [{ title: 'UID', value: ({ source }: JournalLine) => source?.uid ?? '' }] : []),
  { title: 'DETAIL', value: ({ detail }) => detail },
];
