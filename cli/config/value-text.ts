import { jsonText } from '../output/structured.ts';
import type { Json } from '../../agent/config/contract.ts';

/** Longer values are cut in a table that is not wide. */
const MAX_LENGTH = 48;

/** A value of a field in a table: text without quotes, all else as JSON; `-` for none. */
export function valueText(value: Json, wide: boolean): string {
  const text = value === null ? '-' : typeof value === 'string' ? (value === '' ? '""' : value) : jsonText(value, 0).trimEnd();
  return wide || text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 2)}..`;
}
