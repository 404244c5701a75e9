import { age, ageColumn, nameColumn } from '../kinds/column.ts';
import { nodesOf, numberOf, textOf } from './node.ts';
import { isJsonObject, ownField } from '../../kube/api/json.ts';
import type { Column } from '../kinds/column.ts';
import type { Node } from './node.ts';

/** The columns of `kubectl get`: the name, and what the author wants shown, or the age. */
export function customColumns(written: unknown): Column[] {
  const columns = nodesOf(written).map(column);
  return [nameColumn, ...(columns.length === 0 ? [ageColumn] : columns)];
}

function column(written: Node): Column {
  const path = textOf(written['jsonPath']);
  const type = textOf(written['type']);
  return {
    name: textOf(written['name']),
    type: type === 'integer' || type === 'date' ? type : 'string',
    format: textOf(written['format']),
    description: textOf(written['description']) || `Custom resource definition column (in JSONPath format): ${path}`,
    wide: (numberOf(written['priority']) ?? 0) > 0,
    cell(object, now) {
      const [found] = valuesAt(object, path);
      if (found === undefined || found === null) return '';
      if (type === 'date') return age(textOf(found), now);
      if (type === 'integer' || type === 'number') return typeof found === 'number' ? found : '';
      return typeof found === 'string' ? found : JSON.stringify(found);
    },
  };
}

type Step = { field: string } | { index: number } | { all: true } | { where: string[]; equals: string };

const step =
  /^(?:\.([A-Za-z0-9_\-/]+(?:\\\.[A-Za-z0-9_\-/]+)*)|\['([^']+)'\]|\[(-?\d+)\]|(?:\.|\[)\*\]?|\[\?\(@\.([^=\s]+)\s*==\s*(?:"([^"]*)"|'([^']*)')\)\])/;

/** Whether this is a path that {@link valuesAt} can follow: fields, indices, `[*]`, and `[?(@.a=="b")]`. */
export function isJsonPath(path: string): boolean {
  return stepsOf(path) !== undefined;
}

/** What a simple JSON path leads to; nothing where there is no such thing. */
export function valuesAt(value: unknown, path: string): unknown[] {
  return (stepsOf(path) ?? [undefined]).reduce<unknown[]>(
    (found, at) => (at === undefined ? [] : found.flatMap((one) => follow(one, at))),
    [value],
  );
}

function stepsOf(path: string): Step[] | undefined {
  const steps: Step[] = [];
  for (let rest = path; rest !== '';) {
    const match = step.exec(rest);
    if (match === null) return undefined;
    const [text, field, quoted, index, where, double, single] = match;
    if (field !== undefined) steps.push({ field: field.replaceAll('\\.', '.') });
    else if (quoted !== undefined) steps.push({ field: quoted.replaceAll('\\.', '.') });
    else if (index !== undefined) steps.push({ index: Number(index) });
    else if (where !== undefined) steps.push({ where: where.split('.'), equals: double ?? single ?? '' });
    else steps.push({ all: true });
    rest = rest.slice(text.length);
  }
  return steps;
}

function follow(value: unknown, at: Step): unknown[] {
  if ('field' in at) return isJsonObject(value) && Object.hasOwn(value, at.field) ? [ownField(value, at.field)] : [];
  if ('all' in at) return Array.isArray(value) ? value : isJsonObject(value) ? Object.values(value) : [];
  if (!Array.isArray(value)) return [];
  if ('index' in at) return at.index < value.length ? [value.at(at.index)] : [];
  const found = (item: unknown) =>
    at.where.reduce<unknown>((from, field) => (isJsonObject(from) ? ownField(from, field) : undefined), item);
  return value.filter((item) => found(item) === at.equals);
}
