import { dnsLabelProblems, configMapKeyProblems } from '../../kube/api/names.ts';
import { duplicate, invalidValue, missing, notSupported, required } from '../errors.ts';
import type { FieldError } from '../errors.ts';
import { fieldAt, listAt, textAt } from './metadata-rules.ts';
import { notNegative, oneToMost, resourceErrors } from './number-rules.ts';
import { isJsonObject } from '../../kube/api/json.ts';

/** Properties of a pod that the rules of its containers need. */
export interface PodFacts {
  volumes: ReadonlySet<string>;
  onHost: boolean;
}

/** Validates one list of a pod's containers. @param taken - names in use; the names of this list are added */
export function containerErrors(containers: readonly unknown[], path: string, pod: PodFacts, taken: Set<string>): FieldError[] {
  const hostPorts = new Set<string>();
  return containers.flatMap((container, at) => {
    const here = `${path}[${at}]`;
    const name = textAt(container, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${here}.name`, ''));
    else errors.push(...dnsLabelProblems(name).map((problem) => invalidValue(`${here}.name`, name, problem)));
    if (name !== '' && taken.has(name)) errors.push(duplicate(`${here}.name`, name));
    taken.add(name);
    return [...errors, ...oneErrors(container, here, pod, hostPorts)];
  });
}

const policies = ['Always', 'IfNotPresent', 'Never'];

function oneErrors(container: unknown, path: string, pod: PodFacts, hostPorts: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  if (textAt(container, 'image') === '') errors.push(required(`${path}.image`, ''));
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const found = fieldAt(container, probe);
    if (found !== undefined) errors.push(...probeErrors(found, `${path}.${probe}`, probe !== 'readinessProbe'));
  }
  const message = textAt(container, 'terminationMessagePolicy');
  if (message !== 'File' && message !== 'FallbackToLogsOnError')
    errors.push(invalidValue(`${path}.terminationMessagePolicy`, message, "must be 'File' or 'FallbackToLogsOnError'"));
  errors.push(
    ...portErrors(listAt(container, 'ports'), `${path}.ports`, pod.onHost, hostPorts),
    ...envErrors(listAt(container, 'env'), `${path}.env`),
    ...mountErrors(listAt(container, 'volumeMounts'), `${path}.volumeMounts`, pod.volumes),
  );
  const pull = textAt(container, 'imagePullPolicy');
  if (!policies.includes(pull)) errors.push(notSupported(`${path}.imagePullPolicy`, pull, policies));
  return [...errors, ...resourceErrors(fieldAt(container, 'resources'), `${path}.resources`)];
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

function probeErrors(probe: unknown, path: string, successOnce: boolean): FieldError[] {
  const found = handlers.filter((handler) => fieldAt(probe, handler) !== undefined);
  const errors: FieldError[] = [];
  if (found.length === 0) errors.push(required(path, 'must specify a handler type'));
  found.slice(1).forEach((handler) => {
    errors.push({ field: `${path}.${handler}`, type: 'forbidden', detail: 'may not specify more than 1 handler type' });
  });
  const port = fieldAt(probe, 'httpGet', 'port') ?? fieldAt(probe, 'tcpSocket', 'port');
  const of = fieldAt(probe, 'httpGet') === undefined ? 'tcpSocket' : 'httpGet';
  if (typeof port === 'number') errors.push(...oneToMost(port, `${path}.${of}.port`, 65535));
  errors.push(
    ...notNegative(probe, path, 'initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'),
  );
  const successes = fieldAt(probe, 'successThreshold');
  if (successOnce && successes !== undefined && successes !== 1)
    errors.push(invalidValue(`${path}.successThreshold`, successes, 'must be 1'));
  return errors;
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function portErrors(ports: readonly unknown[], path: string, onHost: boolean, hostPorts: Set<string>): FieldError[] {
  const names = new Set<string>();
  const errors = ports.flatMap((port, at) => {
    const here = `${path}[${at}]`;
    const name = textAt(port, 'name');
    const found: FieldError[] = [];
    const problems = name === '' ? [] : portNameProblems(name);
    found.push(...problems.map((problem) => invalidValue(`${here}.name`, name, problem)));
    if (name !== '' && problems.length === 0) {
      if (names.has(name)) found.push(duplicate(`${here}.name`, name));
      names.add(name);
    }
    const [inside, outside] = [fieldAt(port, 'containerPort') ?? 0, fieldAt(port, 'hostPort') ?? 0];
    if (inside === 0) found.push(required(`${here}.containerPort`, ''));
    else found.push(...oneToMost(inside, `${here}.containerPort`, 65535));
    if (outside !== 0) found.push(...oneToMost(outside, `${here}.hostPort`, 65535));
    const protocol = textAt(port, 'protocol');
    if (!protocols.includes(protocol)) found.push(notSupported(`${here}.protocol`, protocol, protocols));
    if (onHost && outside !== inside)
      found.push({
        ...invalidValue(`${here}.containerPort`, inside, 'must match `hostPort` when `hostNetwork` is true'),
        today: invalidValue(`${here}.hostPort`, outside, 'must match `containerPort` when `hostNetwork` is true'),
      });
    return found;
  });
  ports.forEach((port, at) => {
    const outside = textAt(port, 'hostPort');
    if (outside === '' || outside === '0') return;
    const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${outside}`;
    if (hostPorts.has(key)) errors.push(duplicate(`${path}[${at}].hostPort`, key));
    hostPorts.add(key);
  });
  return errors;
}

/** Errors of the name of a port, which a Service may refer to. */
function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter or number (a-z, 0-9)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

function mountErrors(mounts: readonly unknown[], path: string, volumes: ReadonlySet<string>): FieldError[] {
  const paths = new Set<string>();
  return mounts.flatMap((mount, at) => {
    const here = `${path}[${at}]`;
    const [name, where] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${here}.name`, ''));
    if (!volumes.has(name)) errors.push(missing(`${here}.name`, name));
    if (where === '') errors.push(required(`${here}.mountPath`, ''));
    if (paths.has(where)) errors.push(invalidValue(`${here}.mountPath`, where, 'must be unique'));
    paths.add(where);
    return errors;
  });
}

const NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const nameRegExp = new RegExp(`^${NAME}$`);
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

// Fields of a pod that environment variables can refer to.
const shown =
  /^(metadata\.(name|namespace|uid|annotations|labels)|metadata\.(annotations|labels)\['.*'\]|spec\.(nodeName|serviceAccountName)|status\.(hostIP|hostIPs|podIP|podIPs))$/;
const supported = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.podIP',
  'status.podIPs',
];

/** Environment variables of a container. */
function envErrors(variables: readonly unknown[], path: string): FieldError[] {
  return variables.flatMap((variable, at) => {
    const here = `${path}[${at}]`;
    const name = textAt(variable, 'name');
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${here}.name`, ''));
    else errors.push(...envNameProblems(name).map((problem) => invalidValue(`${here}.name`, name, problem)));
    return [...errors, ...valueFromErrors(variable, `${here}.valueFrom`)];
  });
}

function envNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (!nameRegExp.test(name)) {
    problems.push(
      `a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or 'MyEnvName1', regex used for validation is '${NAME}')`,
    );
  }
  problems.push(...configMapKeyProblems(name).filter((problem) => problem.startsWith('must not')));
  return problems;
}

function valueFromErrors(variable: unknown, path: string): FieldError[] {
  const from = fieldAt(variable, 'valueFrom');
  if (!isJsonObject(from)) return [];
  const found = sources.filter((source) => isJsonObject(from[source]));
  const errors: FieldError[] = [];
  const field = textAt(from, 'fieldRef', 'fieldPath');
  if (isJsonObject(from['fieldRef'])) {
    const at = `${path}.fieldRef.fieldPath`;
    if (field === '') errors.push(required(at, ''));
    else if (!shown.test(field)) errors.push(invalidValue(at, field, `error converting fieldPath: field label not supported: ${field}`));
    else if (/^metadata\.(annotations|labels)$/.test(field)) errors.push(notSupported(at, field, supported));
  }
  for (const source of ['configMapKeyRef', 'secretKeyRef']) {
    if (!isJsonObject(from[source])) continue;
    for (const part of ['name', 'key']) if (textAt(from, source, part) === '') errors.push(required(`${path}.${source}.${part}`, ''));
  }
  if (found.length === 0) {
    errors.push(invalidValue(path, '', 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`'));
  } else if (textAt(variable, 'value') !== '') errors.push(invalidValue(path, '', 'may not be specified when `value` is not empty'));
  else if (found.length > 1) errors.push(invalidValue(path, '', 'may not have more than one field specified at a time'));
  return errors;
}
