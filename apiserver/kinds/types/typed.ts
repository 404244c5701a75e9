import { parseTypes } from '../../openapi/notation.ts';
import { ref } from '../../openapi/schema.ts';
import type { Schema } from '../../openapi/schema.ts';
import { clusterTypes } from './cluster-types.ts';
import { metaTypes } from './meta-types.ts';
import { podTypes } from './pod-types.ts';
import { storageTypes } from './storage-types.ts';
import { volumeTypes } from './volume-types.ts';
import { workloadTypes } from './workload-types.ts';

const types = parseTypes(metaTypes, podTypes, volumeTypes, storageTypes, workloadTypes, clusterTypes);

/** The schema of a kind from the tables, with metadata of its own. @throws {Error} where no table has it */
export function typed(kind: string, description: string): Schema {
  const found = types.get(kind);
  if (found === undefined) throw new Error(`no type ${kind}`);
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...fields } = found.fields ?? {};
  const { name: _name, ...rest } = found;
  return { ...rest, description, fields: { metadata: ref('ObjectMeta', 'Name, labels and the like.'), ...fields } };
}
