import type { Pod as PodFields, PodTemplateSpec } from 'kubernetes-types/core/v1.js';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Kube } from '../../kube/api/resources.ts';
import { controllerRef } from '../../kube/controller/owner-refs.ts';

/** What is valid before the five characters that the server draws. */
const PREFIX = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*-?$/;

/**
 * A pod as the template of its owner has it, before anybody chose a node. Its parts belong to the template: copy to change.
 * @throws {Error} `unable to create pods, no labels`, since nobody would ever find such a pod
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
