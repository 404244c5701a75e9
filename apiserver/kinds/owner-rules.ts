import type { OwnerReference } from '../../kube/api/object.ts';
import type { FieldError } from '../field-error.ts';
import { invalidShown, invalidValue } from '../field-error.ts';

const PATH = 'metadata.ownerReferences';

/** What owner references are held to, of any kind. */
export function validateOwnerReferences(references: readonly Partial<OwnerReference>[] | undefined): FieldError[] {
  const all = references ?? [];
  const errors = all.flatMap((reference) => {
    const empty: [field: string, what: string][] = [];
    if (!reference.apiVersion) empty.push(['apiVersion', 'version']);
    for (const field of ['kind', 'name', 'uid'] as const) if (!reference[field]) empty.push([field, field]);
    return empty.map(([field, what]) => invalidValue(`${PATH}.${field}`, '', `${what} must not be empty`));
  });
  const [first, second] = all.filter(({ controller }) => controller === true).map(({ name = '' }) => name);
  if (first !== undefined && second !== undefined) {
    const why = `Only one reference can have Controller set to true. Found "true" in references for ${first} and ${second}`;
    errors.push(invalidShown(PATH, JSON.stringify(all), why));
  }
  return errors;
}
