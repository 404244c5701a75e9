import { isJsonObject } from '../../kube/api/json.ts';
import { qualifiedNameProblems } from '../../kube/api/names.ts';
import { type FieldError, invalidShown, invalidValue, notSupported, prohibited } from '../errors.ts';
import {
  fieldAt,
  goSelector,
  goTextMap,
  isEmptySelector,
  labelErrors,
  listAt,
  selectorErrors,
  selectorText,
  selects,
  textAt,
} from './metadata-rules.ts';
import { podSpecErrors } from './pod-rules.ts';
import { typed } from './types/typed.ts';
import { notNegative } from './number-rules.ts';
import type { KubeObject } from '../../kube/api/object.ts';
import type { Column, View } from './kind.ts';

/*
 * Rules for pod templates and selectors of workloads.
 */

/** Errors of the selector itself. @param of - kind for the message */
export function ownSelectorErrors(object: KubeObject, of: string): FieldError[] {
  const selector = fieldAt(object, 'spec', 'selector');
  const errors = selectorErrors(selector, 'spec.selector');
  if (isJsonObject(selector) && isEmptySelector(selector))
    errors.push(invalidShown('spec.selector', goSelector(selector), `empty selector is invalid for ${of}`, selector));
  return errors;
}

/** The selector of a set must match its template. An invalid selector is reported by another error. */
export function templateSelected(object: KubeObject): FieldError[] {
  const selector = fieldAt(object, 'spec', 'selector');
  if (isJsonObject(selector) && isEmptySelector(selector)) return [];
  const labels = fieldAt(object, 'spec', 'template', 'metadata', 'labels');
  if (selects(selector, labels) !== false) return [];
  return [invalidShown('spec.template.metadata.labels', goTextMap(labels), '`selector` does not match template `labels`', labels ?? null)];
}

export function templateMetadataErrors(template: unknown, path: string): FieldError[] {
  const annotations = fieldAt(template, 'metadata', 'annotations');
  return [
    ...labelErrors(fieldAt(template, 'metadata', 'labels'), `${path}.labels`),
    ...Object.keys(isJsonObject(annotations) ? annotations : {}).flatMap((key) =>
      qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue(`${path}.annotations`, key, problem)),
    ),
  ];
}

export function templateErrors(template: unknown, path: string): FieldError[] {
  return [...templateMetadataErrors(template, path), ...podSpecErrors(fieldAt(template, 'spec'), `${path}.spec`)];
}

/** Pods of a set must have restartPolicy Always and no deadline. @param of - kind for the message */
export function runsForGood(object: KubeObject, of: string): FieldError[] {
  const spec = fieldAt(object, 'spec', 'template', 'spec');
  const errors: FieldError[] = [];
  const policy = textAt(spec, 'restartPolicy');
  if (policy !== 'Always') errors.push(notSupported('spec.template.spec.restartPolicy', policy, ['Always']));
  if (fieldAt(spec, 'activeDeadlineSeconds') !== undefined)
    errors.push(prohibited('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${of} is not Supported`));
  return errors;
}

/** The selector of a set is immutable. */
export function selectorUnchanged(now: KubeObject, old: KubeObject): FieldError[] {
  const selector = fieldAt(now, 'spec', 'selector');
  return goSelector(selector) === goSelector(fieldAt(old, 'spec', 'selector'))
    ? []
    : [invalidShown('spec.selector', goSelector(selector), 'field is immutable', selector)];
}

/** Errors of status counts that exceed another count. */
export function notAbove(status: unknown, most: string, ...fields: readonly string[]): FieldError[] {
  const limit = Number(fieldAt(status, most) ?? 0);
  return fields.flatMap((field) => {
    const value = Number(fieldAt(status, field) ?? 0);
    const than = most === 'replicas' ? 'status.replicas' : most;
    return value > limit ? [invalidValue(`status.${field}`, value, `cannot be greater than ${than}`)] : [];
  });
}

const wide = (name: string, description: string, cell: Column['cell']): Column => ({ name, description, cell, wide: true });

const containersOf = (object: KubeObject, path: readonly string[]) => listAt(object, ...path, 'spec', 'containers');

/** @param path - path of the template */
export function containerColumns(...path: readonly string[]): readonly Column[] {
  return [
    wide('Containers', 'Names of each container in the template.', (object) =>
      containersOf(object, path)
        .map((one) => textAt(one, 'name'))
        .join(','),
    ),
    wide('Images', 'Images referenced by each container in the template.', (object) =>
      containersOf(object, path)
        .map((one) => textAt(one, 'image'))
        .join(','),
    ),
  ];
}

export const selectorColumn = wide('Selector', 'Labels of its pods.', (object) => selectorText(fieldAt(object, 'spec', 'selector')));

/** A column with a number from the object. */
export const countColumn = (name: string, description: string, ...path: readonly string[]): Column => ({
  name,
  type: 'integer',
  description,
  cell: (object) => Number(fieldAt(object, ...path) ?? 0),
});

/** `autoscaling/v1` Scale: the number of replicas and the selector of a set. */
export const scale: View = {
  group: 'autoscaling',
  version: 'v1',
  kind: 'Scale',
  schema: typed('Scale', 'Desired number of pods.'),
  show(object) {
    const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
    const replicas = Number(fieldAt(object, 'spec', 'replicas') ?? 0);
    const text = selectorText(fieldAt(object, 'spec', 'selector'));
    return {
      metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })),
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: Number(fieldAt(object, 'status', 'replicas') ?? 0), ...(text === '' ? {} : { selector: text }) },
    };
  },
  validate: (scale) => notNegative(scale['spec'], 'spec', 'replicas'),
  change(object, scale) {
    const spec = isJsonObject(object['spec']) ? object['spec'] : {};
    const { resourceVersion, uid } = scale.metadata;
    return {
      ...object,
      metadata: { ...object.metadata, ...(resourceVersion ? { resourceVersion } : {}), ...(uid ? { uid } : {}) },
      spec: { ...spec, replicas: fieldAt(scale, 'spec', 'replicas') ?? 0 },
    };
  },
};
