import { isJsonObject } from '../../kube/api/json.ts';
import { labelValueProblems, qualifiedNameProblems } from '../../kube/api/names.ts';
import { type FieldError, invalidShown, invalidValue, prohibited, required, tooLong } from '../errors.ts';
import type { KubeObject, OwnerReference } from '../../kube/api/object.ts';
import type { Kind } from './kind.ts';
import { labelSelectorOf, matchesLabels, SelectorError } from '../../kube/api/selector.ts';

const ANNOTATION_BYTES = 256 * 1024;

/** Rules for `metadata` of every object. */
export function validateMetadata(kind: Pick<Kind, 'namespaced' | 'nameProblems'>, object: KubeObject): FieldError[] {
  const { metadata } = object;
  const errors: FieldError[] = [];
  if (metadata.name === undefined || metadata.name === '') errors.push(required('metadata.name', 'name or generateName is required'));
  else errors.push(...kind.nameProblems(metadata.name).map((problem) => invalidValue('metadata.name', metadata.name, problem)));
  if (!kind.namespaced && metadata.namespace) errors.push(prohibited('metadata.namespace', 'not allowed on this type'));
  return [
    ...errors,
    ...validateLabels(metadata.labels),
    ...validateAnnotations(metadata.annotations),
    ...validateFinalizers(metadata.finalizers),
    ...validateOwnerReferences(metadata.ownerReferences),
  ];
}

/** Errors of fields that an update may not change. */
export function validateMetadataUpdate(object: KubeObject, old: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  const { metadata } = object;
  for (const field of ['name', 'namespace', 'uid', 'creationTimestamp'] as const) {
    if ((metadata[field] ?? '') !== (old.metadata[field] ?? '')) {
      errors.push(invalidValue(`metadata.${field}`, metadata[field], 'field is immutable'));
    }
  }
  if (old.metadata.deletionTimestamp !== undefined) {
    const before = new Set(old.metadata.finalizers ?? []);
    const added = (metadata.finalizers ?? []).filter((finalizer) => !before.has(finalizer));
    if (added.length > 0) {
      errors.push(
        prohibited(
          'metadata.finalizers',
          `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
        ),
      );
    }
  }
  return errors;
}

function validateLabels(labels: Record<string, string> | undefined): FieldError[] {
  return Object.entries(labels ?? {}).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalidValue('metadata.labels', key, problem)),
    ...labelValueProblems(value).map((problem) => invalidValue('metadata.labels', value, problem)),
  ]);
}

function validateAnnotations(annotations: Record<string, string> | undefined): FieldError[] {
  const entries = Object.entries(annotations ?? {});
  const errors = entries.flatMap(([key]) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue('metadata.annotations', key, problem)),
  );
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  if (bytes > ANNOTATION_BYTES) errors.push(tooLong('metadata.annotations', ANNOTATION_BYTES));
  return errors;
}

function validateFinalizers(finalizers: readonly string[] | undefined): FieldError[] {
  return (finalizers ?? []).flatMap((finalizer) =>
    qualifiedNameProblems(finalizer).map((problem) => invalidValue('metadata.finalizers', finalizer, problem)),
  );
}

/** A nested field, own properties only; undefined if absent. */
export function fieldAt(value: unknown, ...path: readonly string[]): unknown {
  let at = value;
  for (const field of path) {
    if (!isJsonObject(at) || !Object.hasOwn(at, field)) return undefined;
    at = at[field];
  }
  return at;
}

/** A nested field as text; '' if absent. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = fieldAt(value, ...path);
  return typeof found === 'string' ? found : typeof found === 'number' || typeof found === 'boolean' ? String(found) : '';
}

export function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

const PATH = 'metadata.ownerReferences';

/** Rules for owner references of every object. */
function validateOwnerReferences(references: readonly Partial<OwnerReference>[] | undefined): FieldError[] {
  const all = references ?? [];
  const errors = all.flatMap((reference) => {
    const empty: [field: string, what: string][] = [];
    if (!reference.apiVersion) empty.push(['apiVersion', 'version']);
    for (const field of ['kind', 'name', 'uid'] as const) if (!reference[field]) empty.push([field, field]);
    return empty.map(([field, what]) => {
      const error = invalidValue(`${PATH}.${field}`, '', `${what} must not be empty`);
      return what === 'version' ? error : { ...error, today: { detail: 'must not be empty' } };
    });
  });
  const [first, second] = all.filter(({ controller }) => controller === true);
  if (first !== undefined && second !== undefined) {
    const why = 'Only one reference can have Controller set to true. Found "true" in references for';
    const named = (one: Partial<OwnerReference>): string => `${one.kind ?? ''}/${one.name ?? ''}`;
    errors.push({
      ...invalidShown(PATH, JSON.stringify(all), `${why} ${first.name ?? ''} and ${second.name ?? ''}`),
      today: { detail: `${why} ${named(first)} and ${named(second)}` },
    });
  }
  return errors;
}

/*
 * Values in Go's print format: messages about whole structures contain it, and clients match on these messages.
 */

export function goText(value: unknown): string {
  return JSON.stringify(typeof value === 'string' ? value : '');
}

export function goTextMap(value: unknown): string {
  if (!isJsonObject(value)) return 'map[string]string(nil)';
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[string]string{${pairs.map(([key, one]) => `${JSON.stringify(key)}:${goText(one)}`).join(', ')}}`;
}

export function goTextList(value: unknown): string {
  return Array.isArray(value) ? `[]string{${value.map(goText).join(', ')}}` : '[]string(nil)';
}

export function goIntOrText(value: unknown): string {
  const text = typeof value === 'string';
  return `intstr.IntOrString{Type:${text ? 1 : 0}, IntVal:${text ? 0 : Number(value ?? 0)}, StrVal:${goText(value)}}`;
}

/** `metav1.LabelSelector`. */
export function goSelector(selector: unknown): string {
  if (!isJsonObject(selector)) return 'nil';
  const requirements = listAt(selector, 'matchExpressions').map(
    (one) =>
      `v1.LabelSelectorRequirement{Key:${goText(fieldAt(one, 'key'))}, Operator:${goText(fieldAt(one, 'operator'))}, Values:${goTextList(fieldAt(one, 'values'))}}`,
  );
  const list = requirements.length === 0 ? '(nil)' : `{${requirements.join(', ')}}`;
  return `v1.LabelSelector{MatchLabels:${goTextMap(fieldAt(selector, 'matchLabels'))}, MatchExpressions:[]v1.LabelSelectorRequirement${list}}`;
}

/** Errors of labels inside an object, such as in a template or selector. */
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

/** Whether a selector matches labels; an absent selector matches nothing. @returns undefined for an invalid selector */
export function selects(selector: unknown, labels: unknown): boolean | undefined {
  if (!isJsonObject(selector)) return false;
  try {
    return matchesLabels(labelSelectorOf(selector), isJsonObject(labels) ? (labels as Record<string, string>) : {});
  } catch (error) {
    if (error instanceof SelectorError) return undefined;
    throw error;
  }
}

/** A selector as text: `a=b,c in (d,e)`. */
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

/** A map of labels for tables: `a=b,c=d`, or `<none>`. */
export function nodeSelectorText(labels: unknown): string {
  const entries = Object.entries(isJsonObject(labels) ? labels : {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? '<none>' : entries.map(([key, value]) => `${key}=${String(value)}`).join(',');
}
