import { isJsonObject } from '../../kube/api/json.ts';
import { invalidShown, invalidValue } from '../errors.ts';
import type { FieldError } from '../errors.ts';
import { goIntOrText, fieldAt } from './metadata-rules.ts';
import { qualifiedNameProblems } from '../../kube/api/names.ts';
import { compareQuantities, quantity } from '../../kube/api/quantity.ts';
import type { Quantity } from '../../kube/api/quantity.ts';

const NOT_NEGATIVE = 'must be greater than or equal to 0';

/** Errors for fields of `parent` that are below zero. */
export function notNegative(parent: unknown, path: string, ...fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const value = fieldAt(parent, field);
    return typeof value === 'number' && value < 0 ? [invalidValue(`${path}.${field}`, value, NOT_NEGATIVE)] : [];
  });
}

/** Errors of a count or a percentage, such as maxUnavailable. */
export function countOrPercent(value: unknown, path: string): FieldError[] {
  if (value === undefined) return [];
  if (typeof value === 'number') return value < 0 ? [invalidValue(path, value, NOT_NEGATIVE)] : [];
  if (typeof value === 'string' && /^[0-9]+%$/.test(value)) return [];
  const why =
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
  return [invalidShown(path, goIntOrText(value), why, value)];
}

export function notAboveAll(value: unknown, path: string): FieldError[] {
  const percent = typeof value === 'string' ? /^([0-9]+)%$/.exec(value) : null;
  return percent !== null && Number(percent[1]) > 100
    ? [invalidShown(path, goIntOrText(value), 'must not be greater than 100%', value)]
    : [];
}

/** Whether the value is zero, `0%`, or invalid. */
export function isNothing(value: unknown): boolean {
  return typeof value === 'string' ? !/^[0-9]+%$/.test(value) || Number.parseInt(value, 10) === 0 : Number(value ?? 0) === 0;
}

export function oneToMost(value: unknown, path: string, most: number): FieldError[] {
  return typeof value === 'number' && value >= 1 && value <= most
    ? []
    : [invalidValue(path, value ?? 0, `must be between 1 and ${most}, inclusive`)];
}

/** Sets absent fields to these values. */
export function withDefaults<T>(value: T, defaults: Readonly<Record<string, unknown>>): T {
  if (!isJsonObject(value)) return value;
  const absent = Object.entries(defaults).filter(([field]) => value[field] === undefined || value[field] === null);
  return absent.length === 0 ? value : { ...value, ...Object.fromEntries(absent) };
}

/** The object with one field changed, if the field is present. */
export function mapField<T>(value: T, field: string, change: (value: unknown) => unknown): T {
  if (!isJsonObject(value) || value[field] === undefined || value[field] === null) return value;
  return { ...value, [field]: change(value[field]) };
}

export function mapItems<T>(value: T, field: string, change: (item: unknown) => unknown): T {
  return mapField(value, field, (items) => (Array.isArray(items) ? items.map(change) : items));
}

const UNIT = 1_000_000_000n;
const forContainers = /^(cpu|memory|ephemeral-storage|hugepages-.*)$/;
const mayOvercommit = /^(cpu|memory|ephemeral-storage)$/;

/** Errors of requests and limits of a container. */
export function resourceErrors(resources: unknown, path: string): FieldError[] {
  const limits = amounts(resources, 'limits');
  const requests = amounts(resources, 'requests');
  const errors = Object.entries(limits).flatMap(([name, value]) => amountErrors(name, value, `${path}.limits[${name}]`));
  for (const [name, value] of Object.entries(requests)) {
    errors.push(...amountErrors(name, value, `${path}.requests[${name}]`));
    const asked = quantity(String(value));
    const limit = Object.hasOwn(limits, name) ? quantity(String(limits[name])) : undefined;
    if (asked === undefined || limit === undefined) continue;
    const more = compareQuantities(asked, limit);
    if (!mayOvercommit.test(name) && more !== 0) errors.push(invalidValue(`${path}.requests`, value, `must be equal to ${name} limit`));
    else if (more > 0) errors.push(invalidValue(`${path}.requests`, value, `must be less than or equal to ${name} limit`));
  }
  return errors;
}

function amounts(resources: unknown, field: string): Record<string, unknown> {
  const found = fieldAt(resources, field);
  return isJsonObject(found) ? found : {};
}

function amountErrors(name: string, value: unknown, path: string): FieldError[] {
  const errors = qualifiedNameProblems(name).map((problem) => invalidValue(path, name, problem));
  if (!name.includes('/') && !forContainers.test(name)) {
    errors.push(
      ...['must be a standard resource type or fully qualified', 'must be a standard resource for containers'].map((why) =>
        invalidValue(path, name, why),
      ),
    );
  }
  const amount = quantity(String(value));
  if (amount === undefined) return errors;
  if (amount.nanos < 0n) errors.push(invalidValue(path, value, NOT_NEGATIVE));
  if (name.includes('/') && amount.nanos % UNIT !== 0n)
    errors.push(invalidShown(path, goQuantity(amount, String(value)), 'must be an integer', value));
  return errors;
}

function goQuantity({ nanos, format }: Quantity, text: string): string {
  let value = nanos;
  let scale = -9;
  for (; value !== 0n && value % 1000n === 0n && scale < 0; scale += 3) value /= 1000n;
  const family = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' }[format];
  return `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:"${family}"}`;
}
