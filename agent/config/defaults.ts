import { unreachable } from '../../base/errors.ts';
import { formatGoDuration, goDuration } from '../../base/go-duration.ts';
import { canonicalQuantity, quantity } from '../../kube/api/quantity.ts';
import type { Json, JsonObject, KubeletVersion } from './contract.ts';
import { isList, isObject, own, setKey } from './decode/document.ts';
import { enabledGates } from './gates/gates.ts';
import { type Leaf, type Place, schemaFor, type Shape } from './fields/fields.ts';

/**
 * The configuration as the kubelet of `version` holds it after decoding: every absent field at its default, null and zero of a
 * non-pointer field counted as absent, durations and numbers in the kubelet's own spelling, fields it does not know dropped.
 * An explicitly empty map or list is kept where it keeps a default away (evictionHard, enforceNodeAllocatable).
 * @param written - a document that `decode` accepted; any other value gives an unspecified result, but no exception
 */
export function applyDefaults(written: JsonObject, version: KubeletVersion): JsonObject {
  const schema = schemaFor(version.minor);
  const values = new Map<string, Json>();
  for (const leaf of schema.leaves) {
    if (!leaf.known) continue;
    const value = present(valueAt(written, leaf.path), leaf);
    if (value !== undefined) values.set(leaf.field.name, value);
  }
  const explicitUpdates = values.has('nodeStatusUpdateFrequency');
  for (const leaf of schema.leaves) {
    if (leaf.default !== undefined && !values.has(leaf.field.name)) values.set(leaf.field.name, leaf.default);
  }
  coupled(written, values, version, explicitUpdates);
  return build(schema.root, values);
}

/** Defaults that depend on other fields or on feature gates. */
function coupled(written: JsonObject, values: Map<string, Json>, version: KubeletVersion, explicitUpdates: boolean): void {
  const absent = (name: string): boolean => {
    const leaf = schemaFor(version.minor).leaves.find(({ field }) => field.name === name);
    return leaf !== undefined && leaf.known && present(valueAt(written, leaf.path), leaf) === undefined;
  };
  const updates = values.get('nodeStatusUpdateFrequency');
  if (explicitUpdates && updates !== undefined && absent('nodeStatusReportFrequency')) values.set('nodeStatusReportFrequency', updates);
  if (version.minor >= 27) {
    const parallel = values.get('maxParallelImagePulls');
    if (typeof parallel === 'number' && parallel > 1 && absent('serializeImagePulls')) values.set('serializeImagePulls', false);
  }
  if (version.minor >= 32) {
    const gates = enabledGates({ featureGates: values.get('featureGates') ?? {} }, version);
    if (gates('KubeletCrashLoopBackOffMax') && absent('crashLoopBackOff.maxContainerRestartPeriod')) {
      values.set('crashLoopBackOff.maxContainerRestartPeriod', '5m0s');
    }
    if (version.minor >= 33 && gates('KubeletEnsureSecretPulledImages') && absent('imagePullCredentialsVerificationPolicy')) {
      values.set('imagePullCredentialsVerificationPolicy', 'NeverVerifyPreloadedImages');
    }
  }
  const evictionHard = values.get('evictionHard');
  if (values.get('mergeDefaultEvictionSettings') === true && isObject(evictionHard)) {
    const filled = schemaFor(version.minor).leaves.find(({ field }) => field.name === 'evictionHard')?.default;
    if (isObject(filled)) values.set('evictionHard', { ...filled, ...evictionHard });
  }
  if (version.minor >= LOG_OPTIONS_SINCE) values.set('logging.options', logOptions(values.get('logging.options')));
  const pids = values.get('podPidsLimit');
  if ((typeof pids === 'number' || typeof pids === 'bigint') && pids < 0) values.set('podPidsLimit', -1);
}

/** First minor known to report a buffer size for both formats, set or not. */
const LOG_OPTIONS_SINCE = 32;

function logOptions(given: Json | undefined): JsonObject {
  const of = (format: string): JsonObject => {
    const set = isObject(given) ? own(given, format) : undefined;
    const { splitStream, infoBufferSize = '0' } = isObject(set) ? set : {};
    return splitStream === true ? { splitStream, infoBufferSize } : { infoBufferSize };
  };
  return { text: of('text'), json: of('json') };
}

/** The value in the kubelet's spelling, or undefined where it counts as absent. */
function present(value: Json | undefined, { field, shape, pointer }: Leaf): Json | undefined {
  if (value === undefined || value === null) return undefined;
  const plain = normal(value, shape);
  if (pointer) return plain;
  return plain === 0 ||
    plain === '' ||
    plain === false ||
    (plain === '0s' && (shape.is === 'duration' || shape.is === 'nanoseconds') && field.default !== undefined)
    ? undefined
    : plain;
}

/** Null inside of lists and maps is the zero value of its type; durations and quantities take their canonical form. */
function normal(value: Json, shape: Shape): Json {
  switch (shape.is) {
    case 'duration':
      return typeof value === 'string' ? formatGoDuration(goDuration(value) ?? 0n) : value;
    case 'nanoseconds':
      return typeof value === 'string' ? formatGoDuration(goDuration(value) ?? 0n) : value === 0 ? 0 : value;
    case 'quantity': {
      const parsed = typeof value === 'string' || typeof value === 'number' ? quantity(String(value).trim()) : undefined;
      return parsed === undefined ? value : canonicalQuantity(parsed);
    }
    case 'list':
      return isList(value) ? value.map((item) => (item === null ? zero(shape.of) : normal(item, shape.of))) : value;
    case 'map': {
      if (!isObject(value)) return value;
      const made: Record<string, Json> = {};
      for (const [key, item] of Object.entries(value)) setKey(made, key, item === null ? zero(shape.of) : normal(item, shape.of));
      return made;
    }
    case 'struct': {
      if (!isObject(value)) return value;
      const made: Record<string, Json> = {};
      for (const [key, item] of Object.entries(value)) {
        const member = shape.members.get(key);
        if (member !== undefined && item !== null) setKey(made, key, normal(item, member));
      }
      return filled(made, shape);
    }
    case 'bool':
    case 'string':
    case 'int32':
    case 'int64':
    case 'uint32':
      return value === 0 ? 0 : value; // -0 is read as 0
    case 'float64':
    case 'time':
      return value;
    default:
      return unreachable(shape);
  }
}

/** Adds the members that the kubelet always prints, set or not. */
function filled(made: Record<string, Json>, { members, always }: Extract<Shape, { is: 'struct' }>): JsonObject {
  for (const key of always) {
    const member = members.get(key);
    if (member !== undefined && own(made, key) === undefined) setKey(made, key, member.is === 'map' ? null : zero(member));
  }
  return made;
}

function zero(shape: Shape): Json {
  if (shape.is === 'bool') return false;
  if (shape.is === 'string' || shape.is === 'time') return '';
  if (shape.is === 'list') return null;
  if (shape.is === 'map') return {};
  if (shape.is === 'struct') return filled({}, shape);
  return shape.is === 'duration' ? '0s' : shape.is === 'quantity' ? '0' : 0;
}

/** The value at a path of names, undefined where there is none. */
export function valueAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let at: Json | undefined = object;
  for (const step of path) {
    if (!isObject(at)) return undefined;
    at = own(at, step);
  }
  return at;
}

/** The kubelet always prints these structs, even empty. */
const STRUCTS = new Set([
  'authentication',
  'authentication.x509',
  'authentication.webhook',
  'authentication.anonymous',
  'authorization',
  'authorization.webhook',
  'logging',
  'memorySwap',
]);

function build(places: ReadonlyMap<string, Place>, values: ReadonlyMap<string, Json>): JsonObject {
  const made: Record<string, Json> = { kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1' };
  fill(made, places, '', values);
  return made;
}

function fill(made: Record<string, Json>, places: ReadonlyMap<string, Place>, path: string, values: ReadonlyMap<string, Json>): void {
  for (const [key, place] of places) {
    const name = path === '' ? key : `${path}.${key}`;
    if (place.kind === 'struct') {
      const inner: Record<string, Json> = {};
      fill(inner, place.members, name, values);
      if (Object.keys(inner).length > 0 || (STRUCTS.has(name) && hasKnown(place))) made[key] = inner;
      continue;
    }
    const value = values.get(place.field.name);
    // Of zero values, the kubelet prints durations only.
    if (value !== undefined) made[key] = value;
    else if (place.known && place.shape.is === 'duration' && !place.pointer) made[key] = '0s';
  }
}

function hasKnown(place: Place): boolean {
  return place.kind === 'leaf' ? place.known : place.members.values().some(hasKnown);
}
