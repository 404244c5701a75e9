import { isJsonObject } from '../../kube/api/json.ts';
import { UsageError } from '../failure.ts';
import { printableLines } from './printable.ts';

/**
 * The part of kubectl's jsonpath templates that scripts use: text, `{.a.b[0]}`, `{['a']}`, `{[*]}`, `{[0:2]}`, `{[?(@.state=="trial")]}`,
 * `{range PATH}..{end}`, `{"text\n"}`, `$` and `@`. No recursion (`..`), and nothing is evaluated but comparisons.
 */
type Part =
  | { is: 'text'; text: string }
  | { is: 'path'; path: Path }
  /** The parts between `{range PATH}` and `{end}`. */
  | { is: 'range'; path: Path; parts: Part[] };

type Path = readonly Step[];
type Step =
  | { is: 'key'; key: string }
  | { is: 'index'; index: number }
  | { is: 'slice'; from: number | undefined; to: number | undefined }
  | { is: 'all' }
  | { is: 'root' }
  | { is: 'where'; path: Path; operator: Operator | undefined; value: Literal };
type Operator = '==' | '!=' | '<' | '<=' | '>' | '>=';
type Literal = string | number | boolean;

const MAX_TEMPLATE = 10_000;
const MAX_DEPTH = 10;
const MAX_VALUES = 1_000_000;

/** @throws {UsageError} for an invalid template, or one that produces too many values */
export function jsonPathText(template: string, data: unknown): string {
  const parts = parseTemplate(template);
  return printableLines(rendered(parts, data, data));
}

/** Parses a path without braces, as in custom-columns: `.metadata.name`. */
export function parsePath(text: string): (root: unknown) => unknown[] {
  const [path, rest] = readPath(text.startsWith('{') && text.endsWith('}') ? text.slice(1, -1) : text, 0);
  if (rest.trim() !== '') throw problem(`cannot parse ${JSON.stringify(rest.slice(0, 40))}`);
  return (root) => follow(path, root, root);
}

/** Formats one value like kubectl: text unchanged, other types as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined || value === null ? '' : JSON.stringify(value);
}

const problem = (what: string): UsageError =>
  new UsageError(`-o jsonpath: ${what}; for example -o jsonpath='{range [*]}{.node}{"\\t"}{.state}{"\\n"}{end}'`);

function parseTemplate(template: string): Part[] {
  if (template === '') throw problem('the template is empty');
  if (template.length > MAX_TEMPLATE) throw problem(`the template is longer than ${MAX_TEMPLATE} characters`);
  // As in kubectl, a template without braces is a path.
  const text = template.includes('{') ? template : `{${template}}`;
  const open: { parts: Part[] }[] = [{ parts: [] }];
  for (let at = 0; at < text.length;) {
    const brace = text.indexOf('{', at);
    const plain = text.slice(at, brace < 0 ? undefined : brace);
    const parts = open.at(-1)?.parts ?? [];
    if (plain !== '') parts.push({ is: 'text', text: plain });
    if (brace < 0) break;
    const end = closing(text, brace + 1);
    const inside = text.slice(brace + 1, end).trim();
    at = end + 1;
    if (inside === 'end') {
      if (open.length === 1) throw problem('{end} without {range}');
      open.pop();
    } else if (/^range\s/.test(inside)) {
      const range = { is: 'range' as const, path: wholePath(inside.slice(6).trim()), parts: [] };
      parts.push(range);
      open.push(range);
      if (open.length > MAX_DEPTH) throw problem(`more than ${MAX_DEPTH} nested ranges`);
    } else if (inside !== '') parts.push(...quotedOrPath(inside));
  }
  if (open.length > 1) throw problem('{range} without {end}');
  return open[0]?.parts ?? [];
}

/** Index of the closing brace for the brace at `from`; quoted text may contain braces. */
function closing(text: string, from: number): number {
  let quote = '';
  for (let at = from; at < text.length; at++) {
    const c = text.charAt(at);
    if (quote !== '') {
      if (c === '\\') at++;
      else if (c === quote) quote = '';
    } else if (c === '"' || c === "'") quote = c;
    else if (c === '}') return at;
  }
  throw problem('unclosed {');
}

function quotedOrPath(inside: string): Part[] {
  const parts: Part[] = [];
  for (let rest = inside; rest !== ''; rest = rest.trimStart()) {
    if (rest.startsWith('"') || rest.startsWith("'")) {
      const [text, after] = readQuoted(rest);
      parts.push({ is: 'text', text });
      rest = after;
      continue;
    }
    const [path, after] = readPath(rest, 0);
    if (after === rest) throw problem(`cannot parse ${JSON.stringify(rest.slice(0, 40))}`);
    parts.push({ is: 'path', path });
    rest = after;
  }
  return parts;
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function readQuoted(text: string): [string, string] {
  const quote = text.charAt(0);
  let value = '';
  for (let at = 1; at < text.length; at++) {
    const c = text.charAt(at);
    if (c === quote) return [value, text.slice(at + 1)];
    if (c === '\\') {
      const next = text.charAt(++at);
      value += escapes[next] ?? next;
    } else value += c;
  }
  throw problem('unclosed quote');
}

function wholePath(text: string): Path {
  const [path, rest] = readPath(text, 0);
  if (rest.trim() !== '') throw problem(`cannot parse ${JSON.stringify(rest.slice(0, 40))}`);
  return path;
}

/** @returns the path at the beginning of `text`, and what follows it */
function readPath(text: string, depth: number): [Path, string] {
  if (depth > MAX_DEPTH) throw problem(`more than ${MAX_DEPTH} nested filters`);
  const steps: Step[] = [];
  let rest = text;
  if (rest.startsWith('$')) steps.push({ is: 'root' });
  if (rest.startsWith('$') || rest.startsWith('@')) rest = rest.slice(1);
  for (;;) {
    if (rest.startsWith('..')) throw problem('recursion (..) is not supported');
    const [dotted, star, name] = /^\.(?:(\*)|((?:[^\s.[\]{}()'"=!<>|,*\\]|\\.)+))?/.exec(rest) ?? [];
    if (dotted !== undefined && dotted !== '') {
      if (star !== undefined) steps.push({ is: 'all' });
      else if (name !== undefined) steps.push({ is: 'key', key: name.replace(/\\(.)/g, '$1') });
      rest = rest.slice(dotted.length);
      continue;
    }
    if (!rest.startsWith('[')) return [steps, rest];
    const [step, after] = readBracket(rest.slice(1), depth);
    steps.push(step);
    rest = after;
  }
}

function readBracket(text: string, depth: number): [Step, string] {
  const [all, star, index, colon, to] = /^\s*(?:(\*)|(-?\d{1,9})?(?:(:)(-?\d{1,9})?)?)\s*\]/.exec(text) ?? [];
  if (all !== undefined && (star ?? index ?? colon) !== undefined) {
    const number = (digits: string | undefined): number | undefined => (digits === undefined ? undefined : Number(digits));
    const step: Step =
      star !== undefined
        ? { is: 'all' }
        : colon !== undefined
          ? { is: 'slice', from: number(index), to: number(to) }
          : { is: 'index', index: Number(index) };
    return [step, text.slice(all.length)];
  }
  if (/^\s*['"]/.test(text)) {
    const [key, after] = readQuoted(text.trimStart());
    const end = /^\s*\]/.exec(after);
    if (end) return [{ is: 'key', key }, after.slice(end[0].length)];
  }
  const filter = /^\s*\?\(\s*/.exec(text);
  if (filter) return readFilter(text.slice(filter[0].length), depth);
  throw problem(`cannot parse [${text.slice(0, 40)}`);
}

function readFilter(text: string, depth: number): [Step, string] {
  const [path, rest] = readPath(text, depth + 1);
  const [compared = '', operator] = /^\s*(==|!=|<=|>=|<|>)\s*/.exec(rest) ?? [];
  let after = rest.slice(compared.length);
  let value: Literal = '';
  if (operator !== undefined) {
    if (/^['"]/.test(after)) [value, after] = readQuoted(after);
    else {
      const [word = ''] = /^(?:true|false|-?\d+(?:\.\d+)?)/.exec(after) ?? [];
      if (word === '') throw problem('a filter must compare with a quoted string, a number, true or false');
      value = word === 'true' || word === 'false' ? word === 'true' : Number(word);
      after = after.slice(word.length);
    }
  }
  const end = /^\s*\)\s*\]/.exec(after);
  if (path.length === 0 || !end) throw problem('a filter must look like [?(@.field=="value")]');
  return [{ is: 'where', path, operator: operator as Operator | undefined, value }, after.slice(end[0].length)];
}

function rendered(parts: readonly Part[], current: unknown, root: unknown): string {
  return parts
    .map((part) => {
      switch (part.is) {
        case 'text':
          return part.text;
        case 'path':
          return follow(part.path, current, root).map(valueText).join(' ');
        case 'range':
          return follow(part.path, current, root)
            .map((value) => rendered(part.parts, value, root))
            .join('');
      }
    })
    .join('');
}

function follow(path: Path, from: unknown, root: unknown): unknown[] {
  let values: unknown[] = [from];
  for (const [at, step] of path.entries()) {
    values = values.flatMap((value) => stepInto(step, value, root, at === 0 || (at === 1 && path[0]?.is === 'root')));
    if (values.length > MAX_VALUES) throw problem(`more than ${MAX_VALUES} values`);
  }
  return values;
}

function stepInto(step: Step, value: unknown, root: unknown, isFirst: boolean): unknown[] {
  const list = Array.isArray(value) ? (value as readonly unknown[]) : undefined;
  switch (step.is) {
    case 'root':
      return [root];
    case 'key':
      // dkc prints bare lists; templates for kubectl expect the elements in `items`.
      if (list) return isFirst && step.key === 'items' && value === root ? [value] : [];
      return isJsonObject(value) && Object.hasOwn(value, step.key) ? [value[step.key]] : [];
    case 'index': {
      const found = list?.at(step.index);
      return found === undefined ? [] : [found];
    }
    case 'slice':
      return list?.slice(step.from, step.to) ?? [];
    case 'all':
      return list ? [...list] : isJsonObject(value) ? Object.values(value) : [];
    case 'where':
      return (list ?? []).filter((one) => holds(step, follow(step.path, one, root)));
  }
}

function holds({ operator, value }: Extract<Step, { is: 'where' }>, [found]: readonly unknown[]): boolean {
  if (operator === undefined) return found !== undefined && found !== null;
  if (operator === '==') return found === value;
  if (operator === '!=') return found !== value;
  if (typeof found !== typeof value || (typeof found !== 'number' && typeof found !== 'string')) return false;
  const order = found < value ? -1 : found > value ? 1 : 0;
  return operator === '<' ? order < 0 : operator === '<=' ? order <= 0 : operator === '>' ? order > 0 : order >= 0;
}
