import pc from 'picocolors';
import { UsageError } from '../failure.ts';
import { jsonPathText, parsePath, valueText } from './jsonpath.ts';
import { jsonText, withoutManagedFields, yamlText, printable } from './printable.ts';
import { sourceText, type Source } from '../../agent/checkpoint/source.ts';
import type { Args } from '../args/args.ts';
import type { Context, Flag } from '../command.ts';

export const formats = ['table', 'wide', 'json', 'yaml', 'name'] as const;
const templates = ['jsonpath', 'custom-columns'] as const;
type Format = (typeof formats)[number] | (typeof templates)[number];

/** `-o`, for every command that lists or shows something. */
export const formatFlag: Flag = {
  name: 'output',
  alias: 'o',
  type: 'string',
  choices: formats,
  prefixes: templates.map((name) => `${name}=`),
  default: 'table',
  value: 'FORMAT',
  text: 'output format',
};

/** Given with {@link formatFlag} by the parser. */
export const noHeadersFlag: Flag = { name: 'no-headers', type: 'boolean', text: 'print tables without the header line' };

export type Paint = Pick<typeof pc, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'>;

/** Options of output for people. */
export interface People {
  wide: boolean;
  /** Print the header line of a table. @default true */
  headers?: boolean;
  /** Does nothing without a terminal or with NO_COLOR. Pass only text that is already printable. */
  paint: Paint;
  /** undefined: no terminal, unlimited width. */
  columns: number | undefined;
}

interface View {
  /** Data for json and yaml, exactly as in the contract. */
  data: unknown;
  /** The text for table and wide, line ends included. */
  people(how: People): string | Promise<string>;
}

export function formatOf(args: Args): Format {
  const given = args.text('output') ?? 'table';
  return formats.find((format) => format === given) ?? templates.find((name) => given.startsWith(`${name}=`)) ?? 'table';
}

/** @throws {UsageError} if --watch does not support the requested format */
export function checkWatch(args: Args, command: string): void {
  const format = formatOf(args);
  if (args.on('watch') && format !== 'table' && format !== 'wide' && format !== 'json')
    throw new UsageError(`${command}: --watch works with -o table, wide and json; see dkc ${command} --help`);
}

/** Colours on a terminal, unless NO_COLOR is set and not empty, or TERM=dumb. */
export function paintFor(context: Pick<Context, 'env'>, sink: { readonly isTTY: boolean }): Paint {
  const { NO_COLOR = '', TERM = '' } = context.env;
  return pc.createColors(sink.isTTY && NO_COLOR === '' && TERM !== 'dumb');
}

export function peopleFor(context: Context, args: Args): People {
  return {
    wide: formatOf(args) === 'wide',
    headers: !(args.has('no-headers') && args.on('no-headers')),
    paint: paintFor(context, context.stdout),
    columns: context.stdout.columns,
  };
}

/** Prints `view` to stdout in the requested format. @throws {UsageError} for an invalid template, before anything is printed */
export async function show(context: Context, args: Args, view: View): Promise<void> {
  context.stdout.write((await scriptText(args, view.data)) ?? (await view.people(peopleFor(context, args))));
}

/** `given` formatted as json, yaml, name, jsonpath or custom-columns; undefined for table and wide. */
export async function scriptText(args: Args, given: unknown): Promise<string | undefined> {
  const data = withoutManagedFields(given);
  const format = formatOf(args);
  const template = (args.text('output') ?? '').slice(format.length + 1);
  switch (format) {
    case 'table':
    case 'wide':
      return undefined;
    case 'json':
      return jsonText(data);
    case 'yaml':
      return yamlText(data);
    case 'name':
      return namesText(data);
    case 'jsonpath':
      return jsonPathText(template, data);
    case 'custom-columns':
      return customColumnsText(template, data, args.has('no-headers') && args.on('no-headers'));
  }
}

/** Parses the template of `-o`, so that a mistake is reported before any work is done. @throws {UsageError} */
export async function checkFormat(args: Args): Promise<void> {
  if (!args.has('output')) return;
  const format = formatOf(args);
  if (format === 'jsonpath' || format === 'custom-columns') await scriptText(args, []);
  if (format === 'table' && args.text('output') !== 'table') throw new UsageError('unknown output format');
}

export interface Column<Row> {
  /** Upper case, except text that the user typed. */
  title: string;
  /** The table makes the value printable, and shows '' as `-`. */
  value(row: Row): string;
  /** Applied to the printable cell. */
  paint?(cell: string, row: Row, paint: Paint): string;
  /** Only with -o wide. */
  wide?: boolean;
}

const GAP = '   ';

/** A table as kubectl draws it: no borders, three blanks between columns. Ends with a line end. */
export async function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], how: People): Promise<string> {
  return tableLines(columns, rows, how).text;
}

/**
 * Like {@link table}, and returns the column widths for further lines. Time is linear in the number of rows; cli-table3 takes 21 s for 5,000 rows.
 * @param widths - of a table before this one: no column gets narrower
 */
export function tableLines<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  { wide, paint, headers = true }: People,
  widths: readonly number[] = [],
): { text: string; widths: number[] } {
  const shown = columns.filter((column) => wide || column.wide !== true);
  const cells = rows.map((row) => shown.map((column) => printable(column.value(row)) || '-'));
  const wanted = shown.map(({ title }, at) => Math.max(widths[at] ?? 0, headers ? title.length : 0));
  for (const line of cells) for (const [at, cell] of line.entries()) wanted[at] = Math.max(wanted[at] ?? 0, width(cell));
  const padding = (cell: string, at: number): string => (at === shown.length - 1 ? '' : ' '.repeat((wanted[at] ?? 0) - width(cell)));
  const lines = cells.map((line, row) =>
    line
      .map((cell, at) => `${shown[at]?.paint?.(cell, rows[row] as Row, paint) ?? cell}${padding(cell, at)}`)
      .join(GAP)
      .trimEnd(),
  );
  // Without a header line, columns may be narrower than their titles.
  const head = headers ? [shown.map(({ title }, at) => `${title}${padding(title, at)}`).join(GAP).trimEnd()] : []; // prettier-ignore
  return { text: [...head, ...lines].map((line) => `${line}\n`).join(''), widths: wanted };
}

/** Width in terminal columns. Ignores double-width letters, which names in Kubernetes do not have. */
const width = (text: string): number =>
  /^[\u0020-\u007e]*$/.test(text) ? text.length : text.replace(/\p{M}/gu, '').replace(/[\u{10000}-\u{10ffff}]/gu, '_').length;

type Element = Readonly<Record<string, unknown>>;

/** `-o name`: one line per name in a list, with its type: `node/NAME`, a configuration, a field, an object, a path. @throws {UsageError} */
export function namesText(data: unknown): string {
  const rows = Array.isArray(data) ? (data as readonly unknown[]) : [data];
  // Several reasons may be about one object.
  const names = new Set(rows.map((row) => printable(nameOf(typeof row === 'object' && row !== null ? (row as Element) : {}))));
  return [...names].map((name) => `${name}\n`).join('');
}

function nameOf(row: Element): string {
  if (typeof row['node'] === 'string' && row['error'] !== undefined) return `node/${row['node']}`;
  if (typeof row['node'] === 'string' && row['carrier'] !== undefined) return `node/${row['node']}`;
  if (row['source'] !== undefined) return sourceText(row['source'] as Source | null);
  for (const key of ['field', 'object', 'path', 'step', 'check', 'name']) {
    const value = row[key];
    if (typeof value === 'string') return value;
  }
  const { apiVersion, kind, metadata } = row as { apiVersion?: unknown; kind?: unknown; metadata?: { name?: unknown } };
  if (typeof kind === 'string' && typeof metadata?.name === 'string') {
    const [group, version] = typeof apiVersion === 'string' ? apiVersion.split('/') : [];
    return `${kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${metadata.name}`;
  }
  throw new UsageError('-o name: the output of this command has no names; use -o json');
}

const MAX_COLUMNS = 100;

/** `NODE:.node,STATE:.state`, as in kubectl. A missing value is printed as `<none>`. @throws {UsageError} */
export function customColumnsText(spec: string, data: unknown, noHeaders: boolean): string {
  const columns = spec.split(/,(?![^[]*\])/).map(columnOf);
  if (columns.length > MAX_COLUMNS) throw new UsageError(`-o custom-columns: more than ${MAX_COLUMNS} columns`);
  const rows = Array.isArray(data) ? (data as readonly unknown[]) : [data];
  return tableLines(columns, rows, { wide: true, headers: !noHeaders, paint: pc.createColors(false), columns: undefined }).text;
}

function columnOf(text: string): Column<unknown> {
  const colon = text.indexOf(':');
  const [title, path] = [text.slice(0, colon), text.slice(colon + 1)];
  if (colon < 1 || path === '')
    throw new UsageError(`-o custom-columns: ${JSON.stringify(text)} is not TITLE:.path, such as NODE:.node,STATE:.state`);
  const read = parsePath(path.startsWith('.') || path.startsWith('[') || path.startsWith('{') ? path : `.${path}`);
  return { title, value: (row) => read(row).map(valueText).join(',') || '<none>' };
}
