import { andMore, cappedFindings, type Decoded, type Finding, type Json, type JsonObject, type KubeletVersion } from '../contract.ts';
import { type Document, DocumentError, Duplicates, isList, isObject, join, joinIndex, MAX_BYTES, own, withValues } from './document.ts';
import { goDuration } from '../../../base/go-duration.ts';
import { quantity } from '../../../kube/api/quantity.ts';
import { readJson } from './read-json.ts';
import { readSimpleYaml } from '../yaml/read-simple-yaml.ts';
import { readYaml } from '../yaml/read-yaml.ts';
import { type Leaf, type Place, schemaFor, type Shape } from '../fields/fields.ts';

const API_VERSION = 'kubelet.config.k8s.io/v1beta1';
const KIND = 'KubeletConfiguration';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads a kubelet configuration as a kubelet of `version` does: JSON or YAML, strictly, and then leniently if only strictness failed.
 * Unknown fields, duplicate keys and fields of other versions are warnings; everything else that the kubelet's decoder rejects is an error.
 * Never throws, for any bytes. Findings name fields and rules, never values.
 */
export function decode(bytes: Uint8Array, version: KubeletVersion): Decoded {
  let document: Document;
  try {
    document = read(bytes);
  } catch (error) {
    if (error instanceof DocumentError) return { ok: false, errors: [error.finding] };
    throw error;
  }
  const { value } = document;
  const errors = typeErrors(value);
  if (!isObject(value)) return { ok: false, errors };

  const check = new Check(document);
  check.members(value, schemaFor(version.minor).root, '', version);
  const warnings = cappedFindings(duplicateKeys(document), check.warnings);
  if (errors.length === 0 && check.errors.length === 0) return { ok: true, written: value, warnings };
  // For an object of another kind, findings about its fields are of no use.
  if (errors.some(({ field }) => field === 'kind') && own(value, 'kind') !== undefined) return { ok: false, errors };
  return { ok: false, errors: cappedFindings(errors, check.errors), rest: { written: without(value, check.broken), warnings } };
}

function duplicateKeys(document: Document): Finding[] {
  const { paths, more } = document.duplicates;
  const duplicates = paths.map((field) => finding(field, 'duplicate-key', 'is set more than once; the last one counts'));
  return more > 0 ? [...duplicates, andMore(more)] : duplicates;
}

/** Paths of `written` that the field table does not have for any version; `registerWithTaints[0].x` inside of a list. */
export function fieldsNotInTable(written: JsonObject, version: KubeletVersion): string[] {
  return ignored(written, version).flatMap(({ field, rule }) => (rule === 'unknown-field' ? [field] : []));
}

function ignored(written: JsonObject, version: KubeletVersion): readonly Finding[] {
  const check = new Check({ value: written, duplicates: new Duplicates(), inexact: new WeakMap() });
  check.members(written, schemaFor(version.minor).root, '', version);
  return check.warnings;
}

function read(bytes: Uint8Array): Document {
  if (bytes.length === 0) throw new DocumentError('empty', 'the text is empty');
  if (bytes.length > MAX_BYTES) throw new DocumentError('too-large', `the text is larger than ${MAX_BYTES} bytes`);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new DocumentError('utf8', 'the text is not UTF-8');
  }
  if (looksLikeJson(text)) return readJson(text);
  const simple = readSimpleYaml(text);
  return simple === undefined ? readYaml(text) : { value: simple, duplicates: new Duplicates(), inexact: new WeakMap() };
}

function looksLikeJson(text: string): boolean {
  return /^[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*\{/.test(text);
}

/** apiVersion and kind, which the kubelet looks up without regard to case, unlike every other key. */
function typeErrors(value: Json): Finding[] {
  if (!isObject(value)) {
    return [value === null ? finding('', 'empty', 'the text holds no configuration') : finding('', 'type', 'the text is not a mapping')];
  }
  const errors: Finding[] = [];
  const named: { apiVersion?: Json; kind?: Json } = {};
  // The kubelet goes through the keys in byte order (YAML is sorted on its way to JSON), so that the exact spelling is the last.
  for (const key of Object.keys(value).sort()) {
    const name = key.length > 12 ? undefined : /^apiversion$/i.test(key) ? 'apiVersion' : /^kind$/i.test(key) ? 'kind' : undefined;
    const given = name === undefined ? undefined : value[key];
    if (name === undefined || given === undefined || given === null) continue;
    if (typeof given !== 'string') errors.push(finding(name, 'type', 'must be a string'));
    else named[name] = given;
  }
  if (errors.length > 0) return errors;
  if (named.kind === undefined || named.kind === '') errors.push(finding('kind', 'kind', `is missing: write ${KIND}`));
  else if (named.kind !== KIND) errors.push(finding('kind', 'kind', `must be ${KIND}`));
  if (named.apiVersion === undefined || named.apiVersion === '')
    errors.push(finding('apiVersion', 'api-version', `is missing: write ${API_VERSION}`));
  else if (named.apiVersion !== API_VERSION) errors.push(finding('apiVersion', 'api-version', `must be ${API_VERSION}`));
  return errors;
}

/** A copy of `object` without the fields at `paths`. */
function without(object: JsonObject, paths: readonly (readonly string[])[]): JsonObject {
  // null counts as absent.
  return paths.length === 0 ? object : withValues(object, paths.map((path) => ({ path, value: null }))); // prettier-ignore
}

function finding(field: string, rule: string, text: string): Finding {
  return { field, rule, message: field === '' ? text : `${field} ${text}` };
}

const LIMITS = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
} as const;

/** Walks a document along the schema and collects the findings. */
class Check {
  readonly errors: Finding[] = [];
  readonly warnings: Finding[] = [];
  /** Paths of fields with an error in them. */
  readonly broken: (readonly string[])[] = [];
  readonly #inexact: Document['inexact'];

  constructor(document: Document) {
    this.#inexact = document.inexact;
  }

  members(object: JsonObject, places: ReadonlyMap<string, Place>, path: string, version: KubeletVersion): void {
    for (const key of Object.keys(object)) {
      const place = places.get(key);
      const value = object[key] as Json;
      if (place?.kind === 'leaf') {
        if (place.known) {
          const before = this.errors.length;
          this.#shape(value, place.shape, join(path, key), place.pointer, object, key);
          if (this.errors.length > before) this.broken.push(place.path);
        } else this.warnings.push(unknownTo(join(path, key), place, version));
      } else if (place?.kind === 'struct') {
        if (!isAnyKnown(place)) this.warnings.push(...unknownStruct(value, place, join(path, key), version));
        else if (isObject(value)) this.members(value, place.members, join(path, key), version);
        else if (value !== null) {
          this.#wrong(join(path, key), 'an object');
          this.broken.push(join(path, key).split('.'));
        }
      } else if (path !== '' || (key !== 'apiVersion' && key !== 'kind')) {
        const text =
          version.newer === undefined
            ? 'is not a field of KubeletConfiguration; the kubelet ignores it'
            : `is not a field of kubelet 1.${version.minor}, the latest known; kubelet ${version.newer} may know it, and ignores it if not`;
        this.warnings.push(finding(join(path, key), 'unknown-field', text));
      }
    }
  }

  /** @param nullable - null counts as absent even where the type has its own decoder in Go */
  #shape(value: Json, shape: Shape, path: string, nullable: boolean, holder: object, key: string): void {
    // A null duration reaches Go's duration parser as the empty string, which it rejects.
    if (value === null && (shape.is !== 'duration' || nullable)) return;
    switch (shape.is) {
      case 'bool':
        if (typeof value !== 'boolean') this.#wrong(path, 'true or false');
        return;
      case 'string':
        if (typeof value !== 'string') this.#wrong(path, typeof value === 'object' ? 'a string' : 'a string: put it in quotes');
        return;
      case 'time':
        if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(value))
          this.#wrong(path, 'a time (RFC 3339)');
        return;
      case 'uint32':
        // Go rejects a sign for an unsigned number, even for zero.
        if (Object.is(value, -0)) this.#wrong(path, 'a whole number');
        else this.#integer(value, LIMITS.uint32, path, holder, key);
        return;
      case 'int32':
      case 'int64':
        this.#integer(value, LIMITS[shape.is], path, holder, key);
        return;
      case 'float64':
        if (typeof value !== 'number' && typeof value !== 'bigint') this.#wrong(path, 'a number');
        return;
      case 'duration':
        if (typeof value !== 'string' || goDuration(value) === undefined) {
          this.errors.push(finding(path, 'duration', 'must be a duration with units, such as "1m30s" or "100ms"'));
        }
        return;
      case 'nanoseconds':
        if (typeof value === 'number' || typeof value === 'bigint') this.#integer(value, LIMITS.int64, path, holder, key);
        else if (typeof value !== 'string' || goDuration(value) === undefined)
          this.errors.push(finding(path, 'duration', 'must be a duration such as "5s", or a whole number of nanoseconds'));
        return;
      case 'quantity':
        if (typeof value === 'string' ? quantity(value.trim()) === undefined : typeof value !== 'number')
          this.#wrong(path, 'a quantity such as "100Mi"');
        return;
      case 'list':
        if (!isList(value)) this.#wrong(path, 'a list');
        else for (const [index, item] of value.entries()) this.#shape(item, shape.of, joinIndex(path, index), false, value, String(index));
        return;
      case 'map':
        if (!isObject(value)) this.#wrong(path, 'a mapping');
        else for (const inner of Object.keys(value)) this.#shape(value[inner] as Json, shape.of, join(path, inner), false, value, inner);
        return;
      case 'struct':
        this.#struct(value, shape.members, path);
    }
  }

  #struct(value: Json, members: ReadonlyMap<string, Shape>, path: string): void {
    if (!isObject(value)) {
      this.#wrong(path, 'an object');
      return;
    }
    for (const key of Object.keys(value)) {
      const shape = members.get(key);
      if (shape === undefined)
        this.warnings.push(finding(join(path, key), 'unknown-field', 'is not a field of KubeletConfiguration; the kubelet ignores it'));
      else this.#shape(value[key] as Json, shape, join(path, key), false, value, key);
    }
  }

  #integer(value: Json, [least, most]: readonly [bigint, bigint], path: string, holder: object, key: string): void {
    const whole = typeof value === 'bigint' ? value : typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
    if (whole === undefined || this.#inexact.get(holder)?.has(key) === true) this.#wrong(path, 'a whole number');
    else if (whole < least || whole > most) this.errors.push(finding(path, 'range', `must be between ${least} and ${most}`));
  }

  #wrong(path: string, expected: string): void {
    this.errors.push(finding(path, 'type', `must be ${expected}`));
  }
}

function isAnyKnown(place: Place): boolean {
  return place.kind === 'leaf' ? place.known : place.members.values().some(isAnyKnown);
}

function unknownTo(path: string, { field }: Leaf, version: KubeletVersion): Finding {
  const span = field.until !== undefined && version.minor > field.until ? `removed in 1.${field.until + 1}` : `new in 1.${field.since}`;
  return finding(path, 'unknown-to-version', `is not known to kubelet 1.${version.minor} (${span}); it ignores the field`);
}

function unknownStruct(value: Json, place: Place, path: string, version: KubeletVersion): Finding[] {
  if (place.kind === 'leaf') return [unknownTo(path, place, version)];
  const inner = isObject(value) ? Object.keys(value) : [];
  const known = inner.flatMap((key) => {
    const member = place.members.get(key);
    return member === undefined ? [] : unknownStruct((value as JsonObject)[key] as Json, member, join(path, key), version);
  });
  if (known.length > 0) return known;
  const first = leavesOf(place).next().value;
  return first === undefined ? [] : [unknownTo(path, first, version)];
}

function* leavesOf(place: Place): Generator<Leaf> {
  if (place.kind === 'leaf') yield place;
  else for (const member of place.members.values()) yield* leavesOf(member);
}
