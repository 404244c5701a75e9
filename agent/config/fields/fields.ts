import type { Field } from './field.ts';
import { nodeFields } from './node.ts';
import { podsFields } from './pods.ts';
import { resourcesFields } from './resources.ts';
import { servingFields } from './serving.ts';

/** Every leaf of KubeletConfiguration v1beta1 that some kubelet the table covers knows. */
export const fields: readonly Field[] = [...servingFields, ...nodeFields, ...resourcesFields, ...podsFields];

const MAX_KNOWN = Math.max(...fields.map(({ name }) => name.length)) + 1;

const byName = new Map(fields.map((field) => [field.name, field]));

/** The entry of a field path; a gate (`featureGates.Foo`) and what lies inside a leaf (`evictionHard.memory.available`) belong to their leaf. */
export function fieldAt(path: string): Field | undefined {
  // Not every prefix of a name with half a million dots is looked up.
  for (let name = path.slice(0, MAX_KNOWN); name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('.')))) {
    const found = byName.get(name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Does a kubelet of this minor know the field? */
export function knows(minor: number, field: Field): boolean {
  return field.since <= Math.max(minor, 20) && (field.until === undefined || minor <= field.until);
}
