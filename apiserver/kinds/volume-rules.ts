import { isJsonObject } from '../../kube/api/json.ts';
import { dnsLabelProblems } from '../../kube/api/names.ts';
import type { FieldError } from '../errors.ts';
import { duplicate, invalidValue, prohibited, required } from '../errors.ts';
import { listAt, textAt } from './metadata-rules.ts';

// What a source must at least say: source -> its required texts.
const required_: Readonly<Record<string, readonly string[]>> = {
  hostPath: ['path'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  nfs: ['server', 'path'],
  iscsi: ['targetPortal', 'iqn'],
  glusterfs: ['endpoints', 'path'],
  persistentVolumeClaim: ['claimName'],
  rbd: ['image'],
  flexVolume: ['driver'],
  configMap: ['name'],
  secret: ['secretName'],
  csi: ['driver'],
  local: ['path'],
  azureFile: ['secretName', 'shareName'],
  cinder: ['volumeID'],
  vsphereVolume: ['volumePath'],
  portworxVolume: ['volumeID'],
};

/** Volumes of a pod. */
export function volumeErrors(volumes: readonly unknown[], path: string): FieldError[] {
  const names = new Set<string>();
  return volumes.flatMap((volume, at) => {
    const here = `${path}[${at}]`;
    const name = textAt(volume, 'name');
    const errors = sourceErrors(volume, here);
    if (name === '') errors.push(required(`${here}.name`, ''));
    else errors.push(...dnsLabelProblems(name).map((problem) => invalidValue(`${here}.name`, name, problem)));
    if (names.has(name)) errors.push(duplicate(`${here}.name`, name));
    names.add(name);
    return errors;
  });
}

function sourceErrors(volume: unknown, path: string): FieldError[] {
  if (!isJsonObject(volume)) return [];
  const found = Object.keys(volume).filter((field) => field !== 'name' && isJsonObject(volume[field]));
  // Of several, emptyDir is the one that is looked at first.
  const sources = found.includes('emptyDir') ? ['emptyDir', ...found.filter((field) => field !== 'emptyDir')] : found;
  if (sources.length === 0) return [required(path, 'must specify a volume type')];
  return sources.flatMap((source, at) =>
    at > 0 ? [prohibited(`${path}.${source}`, 'may not specify more than 1 volume type')] : oneSourceErrors(volume[source], source, path),
  );
}

/** One source of a pod's or a persistent volume. */
export function oneSourceErrors(source: unknown, name: string, path: string): FieldError[] {
  const errors = (required_[name] ?? [])
    .filter((field) => textAt(source, field) === '')
    .map((field) => required(`${path}.${name}.${field}`, ''));
  const folder = textAt(source, 'path');
  if (['hostPath', 'local'].includes(name) && folder.split('/').includes('..'))
    errors.push(invalidValue(`${path}.${name}.path`, folder, "must not contain '..'"));
  listAt(source, 'items').forEach((item, at) => {
    for (const field of name === 'downwardAPI' ? ['path'] : ['key', 'path'])
      if (textAt(item, field) === '') errors.push(required(`${path}.${name}.items[${at}].${field}`, ''));
  });
  return errors;
}
