import type { Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Kube } from '../../kube/api/resources.ts';
import { controllerRef } from '../../kube/controller/owner-refs.ts';

/** What is valid before the five characters that the server draws. */
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*-?$/;

/**
 * A pod as the template of its owner has it, without a node. Its parts belong to the template: copy to change.
 * @throws {Error} `unable to create pods, no labels`, since no selector would ever match such a pod
 */
export function podFromTemplate(template: Readonly<PodTemplateSpec>, owner: Readonly<KubeObject>, ownerKind: Resource): Kube<PodFields> {
  const { labels = {}, annotations, finalizers } = template.metadata ?? {};
  if (Object.keys(labels).length === 0) throw new Error('unable to create pods, no labels');
  const { name = '', namespace = '' } = owner.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: namePrefix(name),
      namespace,
      labels: { ...labels },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [controllerRef(owner, ownerKind)],
    },
    ...(template.spec === undefined ? {} : { spec: template.spec }),
  };
}

/** `NAME-`, or the name alone where that would make no valid prefix. Servers shorten what is too long. */
export function namePrefix(name: string): string {
  const prefix = `${name}-`;
  return PREFIX.test(prefix) ? prefix : name;
}

/** Characters of pods that are written in one turn: a few ms of it. */
export const MAX_TURN_TEXT = 4 * 2 ** 20;

const sizes = new WeakMap<object, number>();

/**
 * How many pods of a template may be written at once. Each is copied and turned into text in the turn in which it is sent, so that a template of a
 * megabyte leaves room for a few and not for five hundred.
 * @param template - never changed afterwards: it is measured once
 * @returns 1 to `most`
 */
export function batchOf(template: object, most: number): number {
  let size = sizes.get(template);
  if (size === undefined) {
    size = JSON.stringify(template).length;
    sizes.set(template, size);
  }
  return Math.max(1, Math.min(most, Math.floor(MAX_TURN_TEXT / Math.max(1, size))));
}
