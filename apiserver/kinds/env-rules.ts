import { isJsonObject } from '../../kube/api/json.ts';
import { configMapKeyProblems } from '../../kube/api/names.ts';
import type { FieldError } from '../field-error.ts';
import { invalidValue, notSupported, required } from '../field-error.ts';
import { fieldAt, textAt } from './metadata-rules.ts';

const NAME = '[-._a-zA-Z][-._a-zA-Z0-9]*';
const nameRegExp = new RegExp(`^${NAME}$`);
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef'];

// Fields of a pod that its own environment can show.
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
export function envErrors(variables: readonly unknown[], path: string): FieldError[] {
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
