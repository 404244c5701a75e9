import { isIP, isIPv4, isIPv6 } from 'node:net';
import { isJsonObject, jsonEqual } from '../../kube/api/json.ts';
import { invalidShown, invalidValue, notSupported, required } from '../errors.ts';
import type { FieldError } from '../errors.ts';
import { EMBEDDED, fieldNode, INT_OR_STRING, LIST_KEYS, LIST_TYPE, nodeOf, nodesOf, numberOf, textOf, textsOf } from './custom-schema.ts';
import type { Node } from './custom-schema.ts';
import type { JsonObject } from '../../kube/api/json.ts';

/**
 * Where `value` violates its schema, with the messages of a 1.20 server. As on that server, paths have no list indices: an item has the path of its list.
 * `x-kubernetes-validations` (CEL) is not evaluated.
 */
export function valueErrors(value: unknown, node: Node, path: string): FieldError[] {
  if (value === null && node['nullable'] === true) return [];
  const errors = typeErrors(value, node, path);
  if (Array.isArray(node['enum']) && !node['enum'].some((one) => jsonEqual(one, value))) {
    errors.push(
      notSupported(
        path,
        value,
        node['enum'].map((one) => (typeof one === 'string' ? one : JSON.stringify(one))),
      ),
    );
  }
  if (typeof value === 'string') errors.push(...stringErrors(value, node, path).slice(0, 1));
  if (typeof value === 'number') errors.push(...numberErrors(value, node, path));
  if (Array.isArray(value)) errors.push(...listErrors(value, node, path));
  if (isJsonObject(value)) errors.push(...objectErrors(value, node, path));
  return [...errors, ...combinedErrors(value, node, path)];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function typeErrors(value: unknown, node: Node, path: string): FieldError[] {
  const wanted = node[INT_OR_STRING] === true ? ['integer', 'string'] : textOf(node['type']) === '' ? [] : [textOf(node['type'])];
  const is = typeOf(value);
  if (wanted.length === 0 || wanted.includes(is) || (is === 'integer' && wanted.includes('number'))) return [];
  return [invalidShown(path, `"${is}"`, `${path} in body must be of type ${wanted.join(',')}: "${is}"`)];
}

/** The server reports only the first of these errors. */
function stringErrors(value: string, node: Node, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const wrong = (why: string): void => void errors.push(invalidValue(path, value, `${path} in body ${why}`));
  const length = Array.from(value).length;
  const [least, most] = [numberOf(node['minLength']), numberOf(node['maxLength'])];
  if (most !== undefined && length > most) wrong(`should be at most ${most} chars long`);
  if (least !== undefined && length < least) wrong(`should be at least ${least} chars long`);
  const pattern = textOf(node['pattern']);
  if (pattern !== '' && expression(pattern)?.test(value) !== true) wrong(`should match '${pattern}'`);
  const format = textOf(node['format']);
  if (!isOfFormat(value, format)) wrong(`must be of type ${format}: ${JSON.stringify(value)}`);
  return errors;
}

/** Compiles a pattern, as far as the syntax of Go and JavaScript agree; undefined for an invalid one. */
export function expression(pattern: string): RegExp | undefined {
  const [, flags = '', rest = pattern] = /^\(\?([ims]+)\)(.*)$/s.exec(pattern) ?? [];
  try {
    return new RegExp(rest, `u${flags}`);
  } catch {
    // Go allows escapes of ordinary characters; without the flag `u`, JavaScript does too.
    try {
      return new RegExp(rest, flags);
    } catch {
      return undefined;
    }
  }
}

function numberErrors(value: number, node: Node, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const wrong = (why: string): void => void errors.push(invalidValue(path, value, `${path} in body should be ${why}`));
  const [least, most, factor] = [numberOf(node['minimum']), numberOf(node['maximum']), numberOf(node['multipleOf'])];
  if (factor !== undefined && !Number.isInteger(value / factor)) wrong(`a multiple of ${factor}`);
  const [below, above] = [node['exclusiveMaximum'] === true, node['exclusiveMinimum'] === true];
  if (most !== undefined && (value > most || (below && value === most))) wrong(`less than ${below ? '' : 'or equal to '}${most}`);
  if (least !== undefined && (value < least || (above && value === least))) wrong(`greater than ${above ? '' : 'or equal to '}${least}`);
  return errors;
}

function listErrors(value: readonly unknown[], node: Node, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const size = (why: string): void =>
    void errors.push(invalidShown(path, String(value.length), `${path} in body should have ${why} items`));
  const [least, most, items] = [numberOf(node['minItems']), numberOf(node['maxItems']), nodeOf(node['items'])];
  if (items !== undefined) for (const item of value) errors.push(...valueErrors(item, items, path));
  if (least !== undefined && value.length < least) size(`at least ${least}`);
  if (most !== undefined && value.length > most) size(`at most ${most}`);
  return [...errors, ...duplicateErrors(value, node, path)];
}

function duplicateErrors(value: readonly unknown[], node: Node, path: string): FieldError[] {
  const type = node[LIST_TYPE];
  if (type !== 'set' && type !== 'map') return [];
  const keys = textsOf(node[LIST_KEYS]);
  const seen = new Set<string>();
  return value.flatMap((item, at): FieldError[] => {
    const key = type === 'set' ? item : Object.fromEntries(keys.map((name) => [name, isJsonObject(item) ? item[name] : undefined]));
    const id = JSON.stringify(key);
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const shown = type === 'set' ? id : `map[string]interface {}${id}`;
    return [{ field: `${path}[${at}]`, type: 'duplicate', shown, detail: '' }];
  });
}

function objectErrors(value: JsonObject, node: Node, path: string): FieldError[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const errors: FieldError[] = [];
  const count = Object.keys(value).length;
  const [least, most] = [numberOf(node['minProperties']), numberOf(node['maxProperties'])];
  // In this message the server shows the limit in place of the value.
  const size = (limit: number, why: string): void =>
    void errors.push(invalidShown(path, String(limit), `${path} in body should have at ${why} ${limit} properties`));
  if (least !== undefined && count < least) size(least, 'least');
  if (most !== undefined && count > most) size(most, 'most');
  for (const name of textsOf(node['required'])) if (!Object.hasOwn(value, name)) errors.push(required(at(name), ''));
  for (const [name, field] of Object.entries(value)) {
    const child = fieldNode(node, name);
    if (child !== undefined) errors.push(...valueErrors(field, child, at(name)));
  }
  if (node[EMBEDDED] === true) {
    for (const name of ['apiVersion', 'kind']) if (textOf(value[name]) === '') errors.push(required(at(name), 'must not be empty'));
  }
  return errors;
}

/** oneOf, anyOf, allOf and not. On the real server their error as a whole names no field. */
function combinedErrors(value: unknown, node: Node, path: string): FieldError[] {
  const whole = (why: string): FieldError => invalidShown('<nil>', '""', `"${path}" must ${why}`);
  const tried = (branches: unknown) => nodesOf(branches).map((branch) => valueErrors(value, branch, path));
  const errors: FieldError[] = [];
  const any = tried(node['anyOf']);
  if (any.length > 0 && any.every((found) => found.length > 0))
    errors.push(whole('validate at least one schema (anyOf)'), ...(any[0] ?? []));
  const one = tried(node['oneOf']);
  const valid = one.filter((found) => found.length === 0).length;
  if (one.length > 0 && valid !== 1) {
    const how = valid === 0 ? 'none valid' : `${valid} valid alternatives`;
    errors.push(whole(`validate one and only one schema (oneOf). Found ${how}`), ...(valid === 0 ? (one[0] ?? []) : []));
  }
  const all = tried(node['allOf']);
  const broken = all.filter((found) => found.length > 0);
  if (broken.length > 0) {
    errors.push(...broken.flat(), whole(`validate all the schemas (allOf)${broken.length === all.length ? '. None validated' : ''}`));
  }
  const not = nodeOf(node['not']);
  if (not !== undefined && valueErrors(value, not, path).length === 0) errors.push(whole('not validate the schema (not)'));
  return errors;
}

/** The string formats that a 1.20 server checks; for other formats it accepts any text. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) =>
    /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h|d|w)(?:(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h|d|w))*)$/.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => text.length <= 255 && text.split('.').every((label) => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => {
    const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
    const version = isIP(address);
    return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
  },
  mac: (text) => /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/.test(text),
  uri: (text) => text !== '' && (URL.canParse(text) || text.startsWith('/')),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
};

/** Whether a text has a format; true for an unknown format. */
function isOfFormat(text: string, format: string): boolean {
  return Object.hasOwn(formats, format) ? formats[format]?.(text) === true : true;
}
