import type { NodeSelector, NodeSelectorRequirement, NodeSelectorTerm } from 'kubernetes-types/core/v1.js';
import { mustBeLabelKey, mustBeLabelValue, mustBeObjectName } from './must-be.ts';
import type { Mapping } from './mapping.ts';

const operators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'] as const;
type Operator = (typeof operators)[number];

/** A node selector as the API would take it of a pod: what it could not read would match no node, and nobody would learn why. */
export function readNodeSelector(written: Mapping): NodeSelector {
  const nodeSelectorTerms = written.mappings('nodeSelectorTerms', readTerm);
  if (nodeSelectorTerms === undefined || nodeSelectorTerms.length === 0)
    written.problem('nodeSelectorTerms', 'it must have a term or more');
  return { nodeSelectorTerms: nodeSelectorTerms ?? [] };
}

function readTerm(written: Mapping): NodeSelectorTerm {
  const matchExpressions = written.mappings('matchExpressions', readExpression);
  const matchFields = written.mappings('matchFields', readField);
  if ((matchExpressions?.length ?? 0) + (matchFields?.length ?? 0) === 0)
    written.findings.problem(written.path, 'it is empty, and would match no node; say matchExpressions or matchFields');
  return { ...(matchExpressions ? { matchExpressions } : {}), ...(matchFields ? { matchFields } : {}) };
}

function readExpression(written: Mapping): NodeSelectorRequirement {
  written.requires('key', 'operator');
  const key = written.text('key', '', mustBeLabelKey);
  const operator = written.choice('operator', undefined, operators);
  const values = written.texts('values', mustBeLabelValue);
  const must = operator && valuesOf(operator, values ?? []);
  if (must !== undefined) written.problem('values', `it must ${must} with operator ${operator}`);
  return { key, operator: operator ?? '', ...(values ? { values } : {}) };
}

function valuesOf(operator: Operator, values: readonly string[]): string | undefined {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0 ? undefined : 'have a value or more';
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0 ? undefined : 'be empty';
    case 'Gt':
    case 'Lt':
      return values.length === 1 && /^[0-9]+$/.test(values[0] ?? '') ? undefined : 'be one whole number, in quotes,';
  }
}

/** The one field of a node there is to select by is its name. */
function readField(written: Mapping): NodeSelectorRequirement {
  written.requires('key', 'operator');
  const key = written.choice('key', 'metadata.name', ['metadata.name']);
  const operator = written.choice('operator', 'In', ['In', 'NotIn']);
  const values = written.texts('values', mustBeObjectName) ?? [];
  if (values.length !== 1) written.problem('values', 'it must be one name of a node; write a term for each');
  return { key, operator, values };
}
