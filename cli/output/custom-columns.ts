import pc from 'picocolors';
import { UsageError } from '../failure.ts';
import { parsePath, valueText } from './jsonpath.ts';
import { tableLines, type Column } from './table.ts';

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
