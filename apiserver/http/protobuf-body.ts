import { rfc3339 } from '../../base/clock.ts';
import { isJsonObject, setField } from '../../kube/api/json.ts';
import type { JsonObject } from '../../kube/api/json.ts';
import { badRequest, unsupportedMediaType } from '../errors.ts';

/*
 * kubectl 1.32 and newer send the objects of `kubectl create KIND` only as protobuf. These are the field numbers of the few kinds concerned,
 * from the published .proto files of k8s.io/api and apimachinery; unknown fields are skipped, as protobuf requires.
 */
type Type = 'text' | 'bytes' | 'flag' | 'number' | 'numberOrText' | 'time' | 'textMap' | 'bytesMap' | Message;
type Message = Readonly<Record<number, readonly [name: string, type: Type, repeated?: 'repeated']>>;

const ownerReference: Message = {
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'flag'],
  7: ['blockOwnerDeletion', 'flag'],
};

const metadata: Message = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  8: ['creationTimestamp', 'time'],
  11: ['labels', 'textMap'],
  12: ['annotations', 'textMap'],
  13: ['ownerReferences', ownerReference, 'repeated'],
  14: ['finalizers', 'text', 'repeated'],
};

const named: Message = { 1: ['name', 'text'] };

const selector: Message = {
  1: ['matchLabels', 'textMap'],
  2: ['matchExpressions', { 1: ['key', 'text'], 2: ['operator', 'text'], 3: ['values', 'text', 'repeated'] }, 'repeated'],
};

const role: Message = {
  1: ['metadata', metadata],
  2: [
    'rules',
    {
      1: ['verbs', 'text', 'repeated'],
      2: ['apiGroups', 'text', 'repeated'],
      3: ['resources', 'text', 'repeated'],
      4: ['resourceNames', 'text', 'repeated'],
      5: ['nonResourceURLs', 'text', 'repeated'],
    },
    'repeated',
  ],
};

const binding: Message = {
  1: ['metadata', metadata],
  2: ['subjects', { 1: ['kind', 'text'], 2: ['apiGroup', 'text'], 3: ['name', 'text'], 4: ['namespace', 'text'] }, 'repeated'],
  3: ['roleRef', { 1: ['apiGroup', 'text'], 2: ['kind', 'text'], 3: ['name', 'text'] }],
};

const resourceAttributes: Message = {
  1: ['namespace', 'text'],
  2: ['verb', 'text'],
  3: ['group', 'text'],
  4: ['version', 'text'],
  5: ['resource', 'text'],
  6: ['subresource', 'text'],
  7: ['name', 'text'],
};

const kinds: Readonly<Record<string, Message>> = {
  'rbac.authorization.k8s.io/v1/Role': role,
  'rbac.authorization.k8s.io/v1/ClusterRole': role,
  'rbac.authorization.k8s.io/v1/RoleBinding': binding,
  'rbac.authorization.k8s.io/v1/ClusterRoleBinding': binding,
  'authorization.k8s.io/v1/SelfSubjectAccessReview': {
    1: ['metadata', metadata],
    2: [
      'spec',
      { 1: ['resourceAttributes', resourceAttributes], 2: ['nonResourceAttributes', { 1: ['path', 'text'], 2: ['verb', 'text'] }] },
    ],
  },
  'authorization.k8s.io/v1/SelfSubjectRulesReview': { 1: ['metadata', metadata], 2: ['spec', { 1: ['namespace', 'text'] }] },
  'policy/v1/PodDisruptionBudget': {
    1: ['metadata', metadata],
    2: [
      'spec',
      {
        1: ['minAvailable', 'numberOrText'],
        2: ['selector', selector],
        3: ['maxUnavailable', 'numberOrText'],
        4: ['unhealthyPodEvictionPolicy', 'text'],
      },
    ],
  },
  'scheduling.k8s.io/v1/PriorityClass': {
    1: ['metadata', metadata],
    2: ['value', 'number'],
    3: ['globalDefault', 'flag'],
    4: ['description', 'text'],
    5: ['preemptionPolicy', 'text'],
  },
  'v1/ConfigMap': { 1: ['metadata', metadata], 2: ['data', 'textMap'], 3: ['binaryData', 'bytesMap'], 4: ['immutable', 'flag'] },
  'v1/Namespace': { 1: ['metadata', metadata] },
  'v1/Service': {
    1: ['metadata', metadata],
    2: [
      'spec',
      {
        1: [
          'ports',
          {
            1: ['name', 'text'],
            2: ['protocol', 'text'],
            3: ['port', 'number'],
            4: ['targetPort', 'numberOrText'],
            5: ['nodePort', 'number'],
            6: ['appProtocol', 'text'],
          },
          'repeated',
        ],
        2: ['selector', 'textMap'],
        3: ['clusterIP', 'text'],
        4: ['type', 'text'],
        10: ['externalName', 'text'],
      },
    ],
  },
  'v1/ServiceAccount': {
    1: ['metadata', metadata],
    3: ['imagePullSecrets', named, 'repeated'],
    4: ['automountServiceAccountToken', 'flag'],
  },
};

// intstr.IntOrString.
const numberOrText: Message = { 1: ['isText', 'number'], 2: ['number', 'number'], 3: ['text', 'text'] };
// runtime.Unknown and the metav1.TypeMeta in it.
const envelope: Message = { 1: ['type', { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] }], 2: ['raw', 'bytes'] };
const MAGIC = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** The object in a body of `application/vnd.kubernetes.protobuf`. @throws StatusError 400 for invalid protobuf, 415 for unknown kinds */
export function decodeProtobuf(bytes: Uint8Array): JsonObject {
  if (!MAGIC.every((byte, at) => bytes[at] === byte))
    throw badRequest('the object provided is unrecognized: it does not start as protobuf does');
  const { type, raw } = decodeMessage(bytes.subarray(MAGIC.length), envelope);
  const { apiVersion = '', kind = '' } = isJsonObject(type) ? type : {};
  const key = `${String(apiVersion)}/${String(kind)}`;
  const message = Object.hasOwn(kinds, key) ? kinds[key] : undefined;
  if (message === undefined || typeof raw !== 'string') throw unsupportedMediaType(['application/json', 'application/yaml']);
  return { apiVersion, kind, ...decodeMessage(Buffer.from(raw, 'base64'), message) };
}

function decodeMessage(bytes: Uint8Array, message: Message): JsonObject {
  const found: JsonObject = {};
  const reader = new Reader(bytes);
  while (!reader.ended) {
    const tag = reader.varint();
    const content = reader.field(tag % 8);
    const entry = message[Math.floor(tag / 8)];
    if (entry === undefined) continue;
    const [name, type, repeated] = entry;
    if (type === 'textMap' || type === 'bytesMap') {
      const { key, value } = decodeMessage(asBytes(content), { 1: ['key', 'text'], 2: ['value', type === 'textMap' ? 'text' : 'bytes'] });
      const map = (found[name] ??= {}) as JsonObject;
      setField(map, typeof key === 'string' ? key : '', value ?? '');
    } else if (repeated === 'repeated') {
      const list = (found[name] ??= []) as unknown[];
      list.push(decodeValue(content, type));
    } else {
      const value = decodeValue(content, type);
      // An unset string is sent as an empty one.
      if (value !== '') found[name] = value;
    }
  }
  return found;
}

function decodeValue(content: Uint8Array | number, type: Exclude<Type, 'textMap' | 'bytesMap'>): unknown {
  if (type === 'number') return asNumber(content);
  if (type === 'flag') return asNumber(content) !== 0;
  const bytes = asBytes(content);
  if (type === 'text') return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (type === 'bytes') return Buffer.from(bytes).toString('base64');
  if (type === 'numberOrText') {
    const { isText = 0, number = 0, text = '' } = decodeMessage(bytes, numberOrText);
    return isText === 0 ? number : text;
  }
  if (type !== 'time') return decodeMessage(bytes, type);
  const { seconds } = decodeMessage(bytes, { 1: ['seconds', 'number'] });
  // An unset time is an empty message.
  return typeof seconds === 'number' && seconds < 1e11 ? rfc3339(seconds * 1000) : null;
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** An unsigned number: tags and lengths. */
  varint(): number {
    const [high, low] = this.#halves();
    return high * 2 ** 32 + low;
  }

  /** A signed number: negative ones are encoded as two's complement of 64 bits. */
  signed(): number {
    const [high, low] = this.#halves();
    return (high | 0) * 2 ** 32 + low;
  }

  /** Two halves of 32 bits: 64 bits are not exact in a JavaScript number. */
  #halves(): [high: number, low: number] {
    let [high, low] = [0, 0];
    for (let shift = 0; shift < 64; shift += 7) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw cutOff();
      const bits = byte & 0x7f;
      if (shift < 32) low += (bits * 2 ** shift) % 2 ** 32;
      if (shift > 25) high += Math.floor(bits * 2 ** (shift - 32));
      if (byte < 0x80) return [high % 2 ** 32, low];
    }
    throw badRequest('the object provided is unrecognized: a number in it has no end');
  }

  /** The value after a tag, by wire type. */
  field(wire: number): Uint8Array | number {
    if (wire === 0) return this.signed();
    if (wire === 2) return this.#take(this.varint());
    if (wire === 1 || wire === 5) return this.#take(wire === 1 ? 8 : 4);
    throw badRequest('the object provided is unrecognized: a field in it is of no known type');
  }

  #take(length: number): Uint8Array {
    if (length > this.#bytes.length - this.#at) throw cutOff();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

const cutOff = (): Error => badRequest('the object provided is unrecognized: it is cut off');

function asBytes(content: Uint8Array | number): Uint8Array {
  if (typeof content === 'number') throw badRequest('the object provided is unrecognized: a number where there should be bytes');
  return content;
}

function asNumber(content: Uint8Array | number): number {
  if (typeof content !== 'number') throw badRequest('the object provided is unrecognized: bytes where there should be a number');
  return content;
}
