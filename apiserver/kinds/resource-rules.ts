import { isJsonObject } from '../../kube/api/json.ts';
import { qualifiedNameProblems } from '../../kube/api/names.ts';
import { compareQuantities, quantity } from '../../kube/api/quantity.ts';
import type { Quantity } from '../../kube/api/quantity.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, invalidValue } from '../field-error.ts';
import { fieldAt } from './metadata-rules.ts';
import { NOT_NEGATIVE } from './number-rules.ts';

const UNIT = 1_000_000_000n;
const forContainers = /^(cpu|memory|ephemeral-storage|hugepages-.*)$/;
const mayOvercommit = /^(cpu|memory|ephemeral-storage)$/;

/** Requests and limits of a container. */
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
    errors.push(invalidShown(path, goQuantity(amount, String(value)), 'must be an integer'));
  return errors;
}

function goQuantity({ nanos, format }: Quantity, text: string): string {
  let value = nanos;
  let scale = -9;
  for (; value !== 0n && value % 1000n === 0n && scale < 0; scale += 3) value /= 1000n;
  const family = { decimal: 'DecimalSI', binary: 'BinarySI', exponent: 'DecimalExponent' }[format];
  return `resource.Quantity{i:resource.int64Amount{value:${value}, scale:${scale}}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:${JSON.stringify(text)}, Format:"${family}"}`;
}
