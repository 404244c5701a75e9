import pc from 'picocolors';
import { UsageError } from '../failure.ts';
import { parsePath, valueText } from './jsonpath.ts';
import { tableLines, type Column } from './output.ts';
import { sourceText, type Source } from '../../agent/checkpoint/source.ts';
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
  const { apiVersion, kind, metadata } = row as { apiVersion?: unknown; kind?: unknown; metadata?: { name?: unknown } };
  if (typeof kind === 'string' && typeof metadata?.name === 'string') {
    const [group, version] = typeof apiVersion === 'string' ? apiVersion.split('/') : [];
    return `${kind.toLowerCase()}${version === undefined ? '' : `.${group}`}/${metadata.name}`;
  }
  throw new UsageError('-o name: the output of this command has no names; use -o json');
}

const MAX_COLUMNS = 100;

/** `NODE:.node,STATE:.state`, as kubectl takes it. What an element lacks reads `<none>`. @throws {UsageError} */
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
