import { sourceText, type Source } from '../../agent/checkpoint/source.ts';
import { UsageError } from '../failure.ts';
import { printable } from './printable.ts';

type Row = Readonly<Record<string, unknown>>;

/** `-o name`: a line for each element of a list, by what it is: `node/NAME`, a configuration, a field, an object, a path. @throws {UsageError} */
export function namesText(data: unknown): string {
  const rows = Array.isArray(data) ? (data as readonly unknown[]) : [data];
  return rows.map((row) => `${printable(nameOf(typeof row === 'object' && row !== null ? (row as Row) : {}))}\n`).join('');
}

function nameOf(row: Row): string {
  if (typeof row['node'] === 'string' && row['error'] !== undefined) return `node/${row['node']}`;
  if (typeof row['node'] === 'string' && row['carrier'] !== undefined) return `node/${row['node']}`;
  if (row['source'] !== undefined) return sourceText(row['source'] as Source | null);
  for (const key of ['field', 'object', 'path', 'step', 'check', 'name']) {
    const value = row[key];
    if (typeof value === 'string') return value;
  }
  const { kind, metadata } = row as { kind?: unknown; metadata?: { name?: unknown } };
  if (typeof kind === 'string' && typeof metadata?.name === 'string') return `${kind.toLowerCase()}/${metadata.name}`;
  throw new UsageError('-o name: the output of this command has no names; use -o json');
}
