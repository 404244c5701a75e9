import pc from 'picocolors';
import { printable } from './printable.ts';
import { jsonText, yamlText } from './structured.ts';
import type { Args } from './args.ts';
import type { Context, Flag } from './command.ts';

export const formats = ['table', 'wide', 'json', 'yaml'] as const;
export type Format = (typeof formats)[number];

/** `-o`, for every command that lists or shows something. */
export const formatFlag: Flag = {
  name: 'output',
  alias: 'o',
  type: 'string',
  choices: formats,
  default: 'table',
  value: 'FORMAT',
  text: 'table for people, wide with more columns, json and yaml for scripts',
};

export type Paint = Pick<typeof pc, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>;

/** How people are to be shown something. */
export interface People {
  wide: boolean;
  /** Does nothing without a terminal or with NO_COLOR. Paint only what is printable already. */
  paint: Paint;
  /** undefined: no terminal, any width. */
  columns: number | undefined;
}

export interface View {
  /** What json and yaml say, exactly as the contract names it. */
  data: unknown;
  /** The text for table and wide, line ends included. */
  people(how: People): string | Promise<string>;
}

export function formatOf(args: Args): Format {
  return formats.find((format) => format === args.text('output')) ?? 'table';
}

/** Colours on a terminal, unless NO_COLOR (any value but an empty one) or TERM=dumb say otherwise. */
export function paintFor(context: Pick<Context, 'env'>, sink: { readonly isTTY: boolean }): Paint {
  const { NO_COLOR = '', TERM = '' } = context.env;
  return pc.createColors(sink.isTTY && NO_COLOR === '' && TERM !== 'dumb');
}

/** Prints `view` to stdout in the format that was asked for. */
export async function show(context: Context, args: Args, view: View): Promise<void> {
  const format = formatOf(args);
  if (format === 'json') return context.stdout.write(jsonText(view.data));
  if (format === 'yaml') return context.stdout.write(yamlText(view.data));
  const how = { wide: format === 'wide', paint: paintFor(context, context.stdout), columns: context.stdout.columns };
  context.stdout.write(await view.people(how));
}

export interface Column<Row> {
  /** Upper case, but for what a person typed. */
  title: string;
  /** Made printable by the table; '' shows as `-`. */
  value(row: Row): string;
  /** Applied to the printable cell. */
  paint?(cell: string, row: Row, paint: Paint): string;
  /** Only with -o wide. */
  wide?: boolean;
}

/** A table as kubectl draws it: no borders, three blanks between columns. Ends with a line end. */
export async function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], how: People): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const shown = columns.filter((column) => how.wide || column.wide !== true);
  const none = Object.fromEntries(
    ['top', 'bottom', 'left', 'right', 'mid'].flatMap((at) => [at, `${at}-mid`, `${at}-left`, `${at}-right`]).map((at) => [at, '']),
  );
  const grid = new Table({
    head: shown.map((column) => column.title),
    chars: { ...none, middle: '   ', 'mid-mid': '', 'left-mid': '', 'right-mid': '' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows)
    grid.push(
      shown.map((column) => {
        const cell = printable(column.value(row)) || '-';
        return column.paint ? column.paint(cell, row, how.paint) : cell;
      }),
    );
  return `${grid
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')}\n`;
}
