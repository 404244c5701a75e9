import { gatesOf } from '../../agent/config/gates/gates.ts';
import { schemaFor, type Place } from '../../agent/config/fields/schema.ts';
import { nearest } from '../../base/nearest.ts';
import type { Finding, KubeletVersion } from '../../agent/config/contract.ts';

/** Names of this length are compared with all others; nobody means one that is longer. */
const MAX_NAME = 100;

/** The finding, with the name that was probably meant: of a field that no kubelet has, and of a gate that this one does not have. */
export function withHint(finding: Finding, version: KubeletVersion): Finding {
  const meant = finding.field.length > MAX_NAME ? undefined : meantBy(finding, version);
  return meant === undefined ? finding : { ...finding, message: `${finding.message}; did you mean ${meant}?` };
}

function meantBy({ field, rule }: Finding, { minor }: KubeletVersion): string | undefined {
  if (rule === 'unknown-gate') return near(field.slice('featureGates.'.length), [...gatesOf(minor).keys()]);
  if (rule !== 'unknown-field') return undefined;
  const dot = field.lastIndexOf('.');
  const [parent, name] = [field.slice(0, Math.max(0, dot)), field.slice(dot + 1)];
  const siblings = membersOf(schemaFor(minor).root, parent);
  return siblings && near(name, [...siblings].filter(([, place]) => isKnown(place)).map(([key]) => key)); // prettier-ignore
}

/** Upper and lower case are the most common slip. */
function near(name: string, names: readonly string[]): string | undefined {
  return names.find((one) => one.toLowerCase() === name.toLowerCase()) ?? nearest(name, names);
}

function membersOf(root: ReadonlyMap<string, Place>, path: string): ReadonlyMap<string, Place> | undefined {
  let members = root;
  for (const step of path === '' ? [] : path.split('.')) {
    const place = members.get(step);
    if (place?.kind !== 'struct') return undefined;
    members = place.members;
  }
  return members;
}

function isKnown(place: Place): boolean {
  return place.kind === 'leaf' ? place.known : place.members.values().some(isKnown);
}
