import { isJsonObject } from '../../kube/api/json.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, invalidValue } from '../field-error.ts';
import { goIntOrText } from './go-text.ts';
import { fieldAt } from './metadata-rules.ts';

export const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Complains of each of the fields of `parent` that is below zero. */
export function notNegative(parent: unknown, path: string, ...fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const value = fieldAt(parent, field);
    return typeof value === 'number' && value < 0 ? [invalidValue(`${path}.${field}`, value, NOT_NEGATIVE)] : [];
  });
}

/** A count or a percentage, such as maxUnavailable. */
export function countOrPercent(value: unknown, path: string): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return value < 0 ? [invalidValue(path, value, NOT_NEGATIVE)] : [];
  if (typeof value === 'string' && /^[0-9]+%$/.test(value)) return [];
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidShown(path, goIntOrText(value), why)];
}

export function notAboveAll(value: unknown, path: string): FieldError[] {
  const percent = typeof value === 'string' ? /^([0-9]+)%$/.exec(value) : null;
  return percent !== null && Number(percent[1]) > 100 ? [invalidShown(path, goIntOrText(value), 'must not be greater than 100%')] : [];
}

/** Zero, `0%`, or nothing that can be read. */
export function isNothing(value: unknown): boolean {
  return typeof value === 'string' ? !/^[0-9]+%$/.test(value) || Number.parseInt(value, 10) === 0 : Number(value ?? 0) === 0;
}

export function oneToMost(value: unknown, path: string, most: number): FieldError[] {
  return typeof value === 'number' && value >= 1 && value <= most
    ? []
    : [invalidValue(path, value ?? 0, `must be between 1 and ${most}, inclusive`)];
}

/** Fields that are absent get these values. */
export function withDefaults<T>(value: T, defaults: Readonly<Record<string, unknown>>): T {
  if (!isJsonObject(value)) return value;
  const absent = Object.entries(defaults).filter(([field]) => value[field] === undefined || value[field] === null);
  return absent.length === 0 ? value : { ...value, ...Object.fromEntries(absent) };
}

/** The object with one field changed where it is there. */
export function mapField<T>(value: T, field: string, change: (value: unknown) => unknown): T {
  if (!isJsonObject(value) || value[field] === undefined || value[field] === null) return value;
  return { ...value, [field]: change(value[field]) };
}

export function mapItems<T>(value: T, field: string, change: (item: unknown) => unknown): T {
  return mapField(value, field, (items) => (Array.isArray(items) ? items.map(change) : items));
}
