import { parseTypes, ref } from '../../openapi/schema.ts';
import type { Schema } from '../../openapi/schema.ts';
import { clusterTypes, workloadTypes } from './workload-types.ts';
import { podTypes } from './pod-types.ts';
import { storageTypes, volumeTypes } from './storage-types.ts';

/** Metadata and selectors inside other objects. Notation: openapi/schema.ts. */
const metaTypes = `
meta.v1.LabelSelector
  matchLabels {text}; matchExpressions [LabelSelectorRequirement]
meta.v1.Condition
  type! text; status! text; observedGeneration int64; lastTransitionTime! time; reason! text; message! text
meta.v1.LabelSelectorRequirement
  key! text; operator! text; values [text]
meta.v1.ObjectMeta
  name text; generateName text; namespace text; selfLink text; uid text; resourceVersion text; generation int64;
  creationTimestamp+33 time; deletionTimestamp* time; deletionGracePeriodSeconds* int64; labels {text}; annotations {text};
  ownerReferences [OwnerReference] by uid; finalizers [text] set; managedFields [any]
meta.v1.OwnerReference
  apiVersion! text; kind! text; name! text; uid! text; controller* flag; blockOwnerDeletion* flag
`;

const types = parseTypes(metaTypes, podTypes, volumeTypes, storageTypes, workloadTypes, clusterTypes);

/** The schema of a kind from the tables, with metadata of its own. @throws {Error} where no table has it */
export function typed(kind: string, description: string): Schema {
  const found = types.get(kind);
  if (found === undefined) throw new Error(`no type ${kind}`);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = found.fields ?? {};
  const { name: _name, ...rest } = found;
  return { ...rest, description, fields: { metadata: ref('ObjectMeta', 'Standard object metadata.'), ...fields } };
}
