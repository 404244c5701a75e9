import { isJsonObject, ownField } from '../../kube/api/json.ts';

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
