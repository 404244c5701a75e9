// Which strings the YAML writer of upstream quotes, and how. It quotes with " what would otherwise be read as something else than a
// string (1, 1e3, yes, 2026-01-01), with ' what would not be read as one plain word, and leaves the rest plain.

const reserved = new Set(['', '~', ...cased('null'), ...['y', 'yes', 'n', 'no', 'true', 'false', 'on', 'off'].flatMap(cased)]);
const special = /^(?:\.nan|\.NaN|\.NAN|[-+]?\.(?:inf|Inf|INF))$/;
const decimal = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/;
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;
// A day, or a day and a time with zone. Both are only dates when the calendar has that day.
const date =
  /^(?<year>[0-9]{4})-(?<month>[0-9]{1,2})-(?<day>[0-9]{1,2})(?:[Tt](?:[01]?[0-9]|2[0-3]):[0-5]?[0-9]:[0-5]?[0-9](?:[.,][0-9]{1,9})?(?:Z|[-+][0-9]{2}:[0-9]{2}))?$/;

/**
 * `text` as the value of a YAML mapping, as upstream writes it.
 * @param text - visible ASCII without blanks: what names, keys, uids and resource versions are made of
 */
export function yamlString(text: string): string {
  if (!/^[!-~]*$/.test(text)) throw new RangeError('only visible ASCII is written to a meta file');
  if (readsAsAnotherType(text) || sexagesimal.test(text) || isDate(text)) return `"${text}"`;
  return isPlain(text) ? text : `'${text.replaceAll("'", "''")}'`;
}

/** Whether upstream reads the plain word `text` as a number, a boolean or nothing. Dates and times it writes quoted, but reads as text. */
export function readsAsAnotherType(text: string): boolean {
  return reserved.has(text) || special.test(text) || isNumber(text);
}

/** Integers in the bases of Go's literals and decimal numbers that a double can hold, both with underscores. */
function isNumber(text: string): boolean {
  if (!/^[-+.0-9]/.test(text)) return false;
  const digits = text.replaceAll('_', '');
  const integer = /^[-+]?(?:0[xX](?<hex>[0-9a-fA-F]+)|0[bB](?<binary>[01]+)|0[oO]?(?<octal>[0-7]+)|0|[1-9][0-9]*)$/.exec(digits);
  if (integer && !text.startsWith('.') && fitsInteger(digits)) return true;
  // After a leading dot an underscore only stands between two digits; behind a digit or sign it stands anywhere.
  if (text.startsWith('.') && /(?<![0-9])_|_(?![0-9])/.test(text)) return false;
  return decimal.test(digits) && Number.isFinite(Number(digits));
}

/** int64 or uint64; a longer one in hex, octal or binary is no number to that writer, a longer decimal is a float. */
function fitsInteger(digits: string): boolean {
  const negative = digits.startsWith('-');
  const bare = digits.replace(/^[-+]/, '').toLowerCase();
  const literal = /^0[0-7]/.test(bare) ? `0o${bare.slice(1)}` : bare;
  const value = BigInt(literal);
  return negative ? value <= 2n ** 63n : value < (digits.startsWith('+') ? 2n ** 63n : 2n ** 64n);
}

function isDate(text: string): boolean {
  const parts = date.exec(text)?.groups;
  if (!parts) return false;
  const [year, month, day] = [Number(parts['year']), Number(parts['month']), Number(parts['day'])];
  const made = new Date(0);
  made.setUTCFullYear(year, month - 1, day);
  return made.getUTCMonth() === month - 1 && made.getUTCDate() === day;
}

function isPlain(text: string): boolean {
  if (/^[#,[\]{}&*!|>'"%@`]/.test(text)) return false;
  if (text.startsWith('---') || text.startsWith('...')) return false;
  return !/^[-?]$/.test(text) && !text.endsWith(':');
}

function cased(word: string): string[] {
  return [word, `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`, word.toUpperCase()];
}
