import { printable } from '../output/printable.ts';
import { table, type Column, type People } from '../output/output.ts';
import { jsonText } from '../output/structured.ts';
import type { Build } from '../command.ts';
import type { Contents } from './collector.ts';

export interface Report extends Contents {
  /** Node name, or `cluster`. */
  of: string;
  /** RFC 3339. */
  made: string;
  dkc: Build;
}

export interface Made extends Report {
  archive: { path: string; bytes: number };
}

/** index.json: every file with its size, what was left out and why, what failed. */
export function indexOf({ files, ...report }: Report | Made): string {
  return jsonText({ ...report, files: files.map(({ path, bytes, note }) => ({ path, bytes, note: note ?? null })) });
}

export function errorsText({ errors }: Pick<Contents, 'errors'>): string {
  return errors.length === 0 ? 'No errors.\n' : errors.map(({ collector, why }) => `${collector}: ${why}\n`).join('');
}

interface Row {
  path: string;
  bytes: string;
  note: string;
}

/** What is in the bundle, what is not, and why. */
export async function contentsText({ files, leftOut, errors, archive }: Made, how: People): Promise<string> {
  const rows: Row[] = files.map(({ path, bytes, note }) => ({ path, bytes: String(bytes), note: note ?? '' }));
  const columns: Column<Row>[] = [
    { title: 'FILE', value: ({ path }) => path },
    { title: 'BYTES', value: ({ bytes }) => bytes },
    { title: 'NOTE', value: ({ note }) => note },
  ];
  const section = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `\n${title}:\n${lines.map((line) => `  ${printable(line)}\n`).join('')}`;
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    await table(columns, rows, how),
    section('Left out', leftOut.map(({ path, why }) => `${path}: ${why}`)), // prettier-ignore
    section('Failed', errors.map(({ collector, why }) => `${collector}: ${why}`)), // prettier-ignore
    `\n${archive.path === '-' ? 'Written to standard output' : `Written to ${printable(archive.path)}`}: ${files.length} files of ${total} bytes, ${archive.bytes} compressed.\n`,
  ].join('');
}
