import { dnsLabelProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { duplicate, type FieldError, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { containerErrors } from './container-rules.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { notNegative, oneToMost } from './number-rules.ts';
import { affinityErrors, nodeLabelErrors, spreadErrors, tolerationErrors } from './scheduling-rules.ts';

// Required string fields of volume sources.
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

/** Errors of a pod's volumes. */
function volumeErrors(volumes: readonly unknown[], path: string): FieldError[] {
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
  // If there are several sources, emptyDir counts as the first.
  const sources = found.includes('emptyDir') ? ['emptyDir', ...found.filter((field) => field !== 'emptyDir')] : found;
  if (sources.length === 0) return [required(path, 'must specify a volume type')];
  return sources.flatMap((source, at) =>
    at > 0 ? [prohibited(`${path}.${source}`, 'may not specify more than 1 volume type')] : oneSourceErrors(volume[source], source, path),
  );
}

/** Errors of one source of a volume or persistent volume. */
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

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** Errors of a defaulted pod spec, alone or in a template. @param claims - volumes from claim templates */
export function podSpecErrors(spec: unknown, path: string, claims: readonly string[] = []): FieldError[] {
  const volumes = listAt(spec, 'volumes');
  const pod = {
    volumes: new Set([...volumes.map((volume) => textAt(volume, 'name')), ...claims]),
    onHost: fieldAt(spec, 'hostNetwork') === true,
  };
  const names = new Set<string>();
  const containers = listAt(spec, 'containers');
  const errors = [
    ...volumeErrors(volumes, `${path}.volumes`),
    ...projectedErrors(spec, path),
    ...(containers.length === 0 ? [required(`${path}.containers`, '')] : []),
    ...containerErrors(containers, `${path}.containers`, pod, names),
    ...containerErrors(listAt(spec, 'initContainers'), `${path}.initContainers`, pod, names),
  ];
  const [restart, dns] = [textAt(spec, 'restartPolicy'), textAt(spec, 'dnsPolicy')];
  if (!restartPolicies.includes(restart)) errors.push(notSupported(`${path}.restartPolicy`, restart, restartPolicies));
  if (!dnsPolicies.includes(dns)) errors.push(notSupported(`${path}.dnsPolicy`, dns, dnsPolicies));
  errors.push(
    ...nodeLabelErrors(fieldAt(spec, 'nodeSelector'), `${path}.nodeSelector`),
    ...affinityErrors(fieldAt(spec, 'affinity'), `${path}.affinity`),
    ...spreadErrors(listAt(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...named(spec, path, 'serviceAccountName', dnsSubdomainProblems),
    ...named(spec, path, 'nodeName', dnsSubdomainProblems),
  );
  const deadline = fieldAt(spec, 'activeDeadlineSeconds');
  if (deadline !== undefined) errors.push(...oneToMost(deadline, `${path}.activeDeadlineSeconds`, 2147483647));
  return [
    ...errors,
    ...named(spec, path, 'hostname', dnsLabelProblems),
    ...named(spec, path, 'subdomain', dnsLabelProblems),
    ...tolerationErrors(listAt(spec, 'tolerations'), `${path}.tolerations`),
    ...hostAliasErrors(listAt(spec, 'hostAliases'), `${path}.hostAliases`),
    ...named(spec, path, 'priorityClassName', dnsSubdomainProblems),
    ...named(spec, path, 'runtimeClassName', dnsSubdomainProblems),
    ...preemptionErrors(spec, path),
  ];
}

function named(spec: unknown, path: string, field: string, problems: (name: string) => string[]): FieldError[] {
  const name = textAt(spec, field);
  return name === '' ? [] : problems(name).map((problem) => invalidValue(`${path}.${field}`, name, problem));
}

function projectedErrors(spec: unknown, path: string): FieldError[] {
  if (textAt(spec, 'serviceAccountName') !== '') return [];
  return listAt(spec, 'volumes').flatMap((volume, at) =>
    listAt(volume, 'projected', 'sources').flatMap((source, from) =>
      fieldAt(source, 'serviceAccountToken') === undefined
        ? []
        : [
            prohibited(
              `${path}.volumes[${at}].projected.sources[${from}].serviceAccountToken`,
              'must not be specified when serviceAccountName is not set',
            ),
          ],
    ),
  );
}

function hostAliasErrors(aliases: readonly unknown[], path: string): FieldError[] {
  return aliases.flatMap((alias, at) => {
    const ip = textAt(alias, 'ip');
    if (!/^[0-9a-fA-F.:]+$/.test(ip)) return [invalidValue(`${path}[${at}].ip`, ip, 'must be valid IP address')];
    return listAt(alias, 'hostnames').flatMap((name) =>
      dnsSubdomainProblems(String(name)).map((problem) => invalidValue(`${path}[${at}].hostnames`, name, problem)),
    );
  });
}

const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

function preemptionErrors(spec: unknown, path: string): FieldError[] {
  const policy = textAt(spec, 'preemptionPolicy');
  if (policy === '' || preemptionPolicies.includes(policy)) return [];
  return [notSupported(`${path}.preemptionPolicy`, policy, preemptionPolicies)];
}

const MAY_CHANGE = new Set(['activeDeadlineSeconds', 'tolerations', 'containers', 'initContainers', 'schedulingGates']);

/** Errors of changes of a pod's spec after creation. @param old - the stored spec, with defaults */
export function podSpecUpdateErrors(spec: unknown, old: unknown): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['containers', 'initContainers']) {
    if (listAt(spec, field).length !== listAt(old, field).length)
      return [prohibited(`spec.${field}`, 'pod updates may not add or remove containers')];
    listAt(spec, field).forEach((container, at) => {
      if (textAt(container, 'image') === '') errors.push(required(`spec.${field}[${at}].image`, ''));
    });
  }
  errors.push(...deadlineErrors(fieldAt(spec, 'activeDeadlineSeconds'), fieldAt(old, 'activeDeadlineSeconds')));
  const before = listAt(old, 'tolerations');
  const kept = before.every((toleration) => listAt(spec, 'tolerations').some((one) => jsonEqual(lasting(one), lasting(toleration))));
  if (!kept) errors.push(prohibited('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds'));
  const gates = listAt(old, 'schedulingGates');
  const newGate = listAt(spec, 'schedulingGates').find((gate) => !gates.some((one) => jsonEqual(one, gate)));
  if (newGate !== undefined)
    errors.push(prohibited('spec.schedulingGates', `only deletion is allowed, but found new scheduling gate '${textAt(newGate, 'name')}'`));
  if (!jsonEqual(fixed(spec), fixed(old))) {
    const why =
      'pod updates may not change fields other than `spec.containers[*].image`, `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)';
    errors.push({ ...prohibited('spec', why), today: { detail: WHAT_CHANGES_TODAY } });
  }
  return errors;
}

const WHAT_CHANGES_TODAY =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function deadlineErrors(now: unknown, before: unknown): FieldError[] {
  const path = 'spec.activeDeadlineSeconds';
  if (typeof before !== 'number') return [];
  if (typeof now !== 'number')
    return [{ ...invalidValue(path, 'null', 'must not update from a positive integer to nil value'), today: { shown: 'null' } }];
  return now > before ? [invalidValue(path, now, 'must be less than or equal to previous value')] : notNegative({ now }, path, 'now');
}

function lasting(toleration: unknown): unknown {
  return isJsonObject(toleration) ? { ...toleration, tolerationSeconds: null } : toleration;
}

/** The immutable fields of a spec. */
function fixed(spec: unknown): Record<string, unknown> {
  const rest = Object.fromEntries(Object.entries(isJsonObject(spec) ? spec : {}).filter(([field]) => !MAY_CHANGE.has(field)));
  const withoutImages = (field: string) => listAt(spec, field).map((one) => (isJsonObject(one) ? { ...one, image: '' } : one));
  return { ...rest, containers: withoutImages('containers'), initContainers: withoutImages('initContainers') };
}
