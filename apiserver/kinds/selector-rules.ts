import { labelSelectorOf, matchesLabels, SelectorError } from '../../kube/api/selector.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/api/names.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { invalidValue, prohibited, required } from '../errors.ts';
import type { FieldError } from '../errors.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';

/** Labels of something inside an object: a template, a selector. */
export function labelErrors(labels: unknown, path: string): FieldError[] {
  return Object.entries(isJsonObject(labels) ? labels : {}).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalidValue(path, key, problem)),
    ...labelValueProblems(String(value)).map((problem) => invalidValue(path, value, problem)),
  ]);
}

/** Rules of `metav1.LabelSelector`. */
export function selectorErrors(selector: unknown, path: string): FieldError[] {
  const errors = labelErrors(fieldAt(selector, 'matchLabels'), `${path}.matchLabels`);
  listAt(selector, 'matchExpressions').forEach((one, at) => {
    errors.push(...requirementErrors(one, `${path}.matchExpressions[${at}]`));
  });
  return errors;
}

function requirementErrors(requirement: unknown, path: string): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const values = listAt(requirement, 'values').length;
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (values === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values > 0) errors.push(prohibited(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  const key = textAt(requirement, 'key');
  return [...errors, ...qualifiedNameProblems(key).map((problem) => invalidValue(`${path}.key`, key, problem))];
}

export function isEmptySelector(selector: unknown): boolean {
  return Object.keys(objectAt(selector, 'matchLabels')).length === 0 && listAt(selector, 'matchExpressions').length === 0;
}

/** Whether labels are selected; an absent selector selects nothing. @returns undefined for a selector that cannot be read */
export function selects(selector: unknown, labels: unknown): boolean | undefined {
  if (!isJsonObject(selector)) return false;
  try {
    return matchesLabels(labelSelectorOf(selector), isJsonObject(labels) ? (labels as Record<string, string>) : {});
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** `a=b,c in (d,e)`: a selector as text. */
export function selectorText(selector: unknown): string {
  const exact = Object.entries(objectAt(selector, 'matchLabels')).map(([key, value]) => ({ key, text: `${key}=${String(value)}` }));
  const more = listAt(selector, 'matchExpressions').map((one) => {
    const key = textAt(one, 'key');
    const values = [...listAt(one, 'values')].map(String).sort().join(',');
    const texts: Record<string, string> = {
      In: `${key} in (${values})`,
      NotIn: `${key} notin (${values})`,
      Exists: key,
      DoesNotExist: `!${key}`,
    };
    return { key, text: texts[textAt(one, 'operator')] ?? '' };
  });
  return [...exact, ...more]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ text }) => text)
    .join(',');
}

function objectAt(value: unknown, field: string): Record<string, unknown> {
  const found = fieldAt(value, field);
  return isJsonObject(found) ? found : {};
}

/** `a=b,c=d`, or `<none>`: a map of labels as tables show it. */
export function nodeSelectorText(labels: unknown): string {
  const entries = Object.entries(isJsonObject(labels) ? labels : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${String(value)}`).join(',');
}
