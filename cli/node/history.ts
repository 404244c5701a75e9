import { nodeSide, nodeSideFlags } from './node-side.ts';
import { sourceText } from '../../agent/checkpoint/source.ts';
import type { JournalLine } from '../../agent/store/store.ts';
import { fine } from '../command.ts';
import { show, table } from '../output/output.ts';
import type { Column } from '../output/output.ts';
import type { Command } from '../command.ts';

export const history: Command = {
  describe: "Prints the history of this node's configuration, oldest first; the last 1,000 transitions are kept.",
  examples: [
    { run: 'dkc history -n 20', what: 'the newest twenty' },
    { run: 'dkc history -o json', what: 'for scripts' },
  ],
  flags: [...nodeSideFlags(), { name: 'lines', alias: 'n', type: 'number', value: 'N', text: 'only the newest N', defaultText: 'all' }],
  positionals: [],
  async run(context, args) {
    const { store } = await nodeSide(context, args);
    const all = await store.journal();
    const count = args.number('lines');
    const lines = count === undefined ? all : all.slice(Math.max(0, all.length - count));
    await show(context, args, {
      data: lines.map(({ at, event, source, detail }) => ({ at, event, source, detail })),
      people: (how) => {
        if (all.length === 0) return 'No history.\n';
        return lines.length === 0 ? `None of ${all.length} lines shown.\n` : table(columns(how.wide), lines, how);
      },
    });
    return fine;
  },
};

const columns = (wide: boolean): Column<JournalLine>[] => [
  { title: 'AT', value: ({ at }) => at },
  { title: 'EVENT', value: ({ event }) => event },
  { title: 'SOURCE', value: ({ source }) => sourceText(source) },
  ...(wide ? [{ title: 'UID', value: ({ source }: JournalLine) => source?.uid ?? '' }] : []),
  { title: 'DETAIL', value: ({ detail }) => detail },
];
