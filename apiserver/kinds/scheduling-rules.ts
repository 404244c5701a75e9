import { labelValueProblems, qualifiedNameProblems } from '../../kube/api/names.ts';
import { duplicate, type FieldError, invalidShown, invalidValue, notSupported, prohibited, required } from '../errors.ts';
import { fieldAt, goText, labelErrors, listAt, selectorErrors, textAt } from './metadata-rules.ts';

/** Validates the parts of a pod's spec that restrict its nodes. */
export function affinityErrors(affinity: unknown, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const [required_, preferred] = ['requiredDuringSchedulingIgnoredDuringExecution', 'preferredDuringSchedulingIgnoredDuringExecution'];
  const nodes = fieldAt(affinity, 'nodeAffinity');
  if (fieldAt(nodes, required_) !== undefined)
    errors.push(...nodeSelectorErrors(fieldAt(nodes, required_), `${path}.nodeAffinity.${required_}`));
  listAt(nodes, preferred).forEach((term, at) => {
    const here = `${path}.nodeAffinity.${preferred}[${at}]`;
    errors.push(...weightErrors(term, here), ...termErrors(fieldAt(term, 'preference'), `${here}.preference`));
  });
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    listAt(affinity, kind, required_).forEach((term, at) => errors.push(...podTermErrors(term, `${path}.${kind}.${required_}[${at}]`)));
    listAt(affinity, kind, preferred).forEach((term, at) => {
      const here = `${path}.${kind}.${preferred}[${at}]`;
      errors.push(...weightErrors(term, here), ...podTermErrors(fieldAt(term, 'podAffinityTerm'), `${here}.podAffinityTerm`));
    });
  }
  return errors;
}

function weightErrors(term: unknown, path: string): FieldError[] {
  const weight = fieldAt(term, 'weight');
  return typeof weight === 'number' && weight >= 1 && weight <= 100
    ? []
    : [invalidValue(`${path}.weight`, weight ?? 0, 'must be in the range 1-100')];
}

/** Errors of a node selector, whose terms are ORed. */
export function nodeSelectorErrors(selector: unknown, path: string): FieldError[] {
  const terms = listAt(selector, 'nodeSelectorTerms');
  if (terms.length === 0) return [required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term')];
  return terms.flatMap((term, at) => termErrors(term, `${path}.nodeSelectorTerms[${at}]`));
}

function termErrors(term: unknown, path: string): FieldError[] {
  return [
    ...listAt(term, 'matchExpressions').flatMap((one, at) => expressionErrors(one, `${path}.matchExpressions[${at}]`)),
    ...listAt(term, 'matchFields').flatMap((one, at) => matchFieldErrors(one, `${path}.matchFields[${at}]`)),
  ];
}

function expressionErrors(requirement: unknown, path: string): FieldError[] {
  const operator = textAt(requirement, 'operator');
  const values = listAt(requirement, 'values').length;
  const errors: FieldError[] = [];
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values === 0) errors.push(required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values > 0) errors.push(prohibited(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    case 'Gt':
    case 'Lt':
      if (values !== 1) errors.push(required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
      break;
    default:
      errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  }
  const key = textAt(requirement, 'key');
  return [...errors, ...qualifiedNameProblems(key).map((problem) => invalidValue(`${path}.key`, key, problem))];
}

function matchFieldErrors(requirement: unknown, path: string): FieldError[] {
  const [key, operator] = [textAt(requirement, 'key'), textAt(requirement, 'operator')];
  const errors: FieldError[] = [];
  if (operator === 'In' || operator === 'NotIn') {
    if (listAt(requirement, 'values').length !== 1)
      errors.push(required(`${path}.values`, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  } else errors.push(invalidValue(`${path}.operator`, operator, 'not a valid selector operator'));
  if (key !== 'metadata.name') errors.push(invalidValue(`${path}.key`, key, 'not a valid field selector key'));
  return errors;
}

function podTermErrors(term: unknown, path: string): FieldError[] {
  const key = textAt(term, 'topologyKey');
  return [
    ...selectorErrors(fieldAt(term, 'labelSelector'), `${path}.labelSelector`),
    ...(key === '' ? [required(`${path}.topologyKey`, 'can not be empty')] : []),
    ...qualifiedNameProblems(key).map((problem) => invalidValue(`${path}.topologyKey`, key, problem)),
  ];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function tolerationErrors(tolerations: readonly unknown[], path: string): FieldError[] {
  return tolerations.flatMap((toleration, at) => {
    const here = `${path}[${at}]`;
    const [key, operator, value, effect] = ['key', 'operator', 'value', 'effect'].map((field) => textAt(toleration, field));
    const errors: FieldError[] = [];
    if (key !== undefined && key !== '')
      errors.push(...qualifiedNameProblems(key).map((problem) => invalidValue(`${here}.key`, key, problem)));
    if (key === '' && operator !== 'Exists') {
      const why = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.push(invalidValue(`${here}.operator`, operator, why));
    }
    if (fieldAt(toleration, 'tolerationSeconds') !== undefined && effect !== 'NoExecute')
      errors.push(invalidValue(`${here}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    if (operator === '' || operator === 'Equal') {
      errors.push(...labelValueProblems(value ?? '').map((problem) => invalidValue(`${here}.operator`, value, problem)));
    } else if (operator === 'Exists') {
      if (value !== '')
        errors.push(invalidShown(`${here}.operator`, goToleration(toleration), "value must be empty when `operator` is 'Exists'"));
    } else errors.push(notSupported(`${here}.operator`, operator, ['Equal', 'Exists']));
    if (effect !== '' && !effects.includes(effect ?? '')) errors.push(notSupported(`${here}.effect`, effect, effects));
    return errors;
  });
}

function goToleration(toleration: unknown): string {
  const fields = ['key', 'operator', 'value', 'effect'].map(
    (field) => `${field[0]?.toUpperCase()}${field.slice(1)}:${goText(fieldAt(toleration, field))}`,
  );
  const seconds = fieldAt(toleration, 'tolerationSeconds') === undefined ? '(*int64)(nil)' : '(*int64)(0x0)';
  return `core.Toleration{${fields.join(', ')}, TolerationSeconds:${seconds}}`;
}

/** Errors of a node's taints. The path is that of a real server. */
export function taintErrors(taints: readonly unknown[]): FieldError[] {
  const pairs = taints.map((taint) => `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`);
  return taints.flatMap((taint, at) => {
    const path = `metadata.taints[${at}]`;
    const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
    const errors = [
      ...qualifiedNameProblems(key).map((problem) => invalidValue(`${path}.key`, key, problem)),
      ...labelValueProblems(value).map((problem) => invalidValue(`${path}.value`, value, problem)),
    ];
    if (!effects.includes(effect)) errors.push(notSupported(`${path}.effect`, effect, effects));
    if (pairs.indexOf(pairs[at] ?? '') !== at) {
      const shown = `core.Taint{Key:${goText(key)}, Value:${goText(value)}, Effect:${goText(effect)}, TimeAdded:<nil>}`;
      const json = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: null });
      errors.push({
        field: path,
        type: 'duplicate',
        shown,
        detail: 'taints must be unique by key and effect pair',
        today: { shown: json },
      });
    }
    return errors;
  });
}

const unsatisfiable = ['DoNotSchedule', 'ScheduleAnyway'];

export function spreadErrors(constraints: readonly unknown[], path: string): FieldError[] {
  const pairs = constraints.map((constraint) => `{${textAt(constraint, 'topologyKey')}, ${textAt(constraint, 'whenUnsatisfiable')}}`);
  return constraints.flatMap((constraint, at) => {
    const here = `${path}[${at}]`;
    const [key, when] = [textAt(constraint, 'topologyKey'), textAt(constraint, 'whenUnsatisfiable')];
    const skew = fieldAt(constraint, 'maxSkew');
    const errors: FieldError[] = [];
    if (typeof skew !== 'number' || skew <= 0) errors.push(invalidValue(`${here}.maxSkew`, skew ?? 0, 'must be greater than zero'));
    if (key === '') errors.push(required(`${here}.topologyKey`, 'can not be empty'));
    if (!unsatisfiable.includes(when)) errors.push(notSupported(`${here}.whenUnsatisfiable`, when, unsatisfiable));
    const pair = pairs[at] ?? '';
    if (pairs.includes(pair, at + 1)) errors.push(duplicate(`${here}.{topologyKey, whenUnsatisfiable}`, pair));
    const least = fieldAt(constraint, 'minDomains');
    if (typeof least === 'number' && least <= 0) errors.push(invalidValue(`${here}.minDomains`, least, 'must be greater than zero'));
    return errors;
  });
}

export const nodeLabelErrors = (selector: unknown, path: string): FieldError[] => labelErrors(selector, path);
