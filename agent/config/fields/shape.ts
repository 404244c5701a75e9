import type { Field } from './field.ts';

/** The JSON that the kubelet's decoder takes for a value. */
export type Shape =
  | { readonly is: 'bool' | 'string' | 'int32' | 'int64' | 'uint32' | 'float64' | 'duration' | 'nanoseconds' | 'quantity' | 'time' }
  | { readonly is: 'list' | 'map'; readonly of: Shape }
  | { readonly is: 'struct'; readonly members: ReadonlyMap<string, Shape> };

const text: Shape = { is: 'string' };
const list = (of: Shape): Shape => ({ is: 'list', of });
const map = (of: Shape): Shape => ({ is: 'map', of });
const struct = (members: Readonly<Record<string, Shape>>): Shape => ({ is: 'struct', members: new Map(Object.entries(members)) });

const logOptions = struct({ splitStream: { is: 'bool' }, infoBufferSize: { is: 'quantity' } });

/** Leaves that are objects or lists of objects, by name: their type text says too little. */
const objects: Readonly<Record<string, Shape>> = {
  'logging.vmodule': list(struct({ filePattern: text, verbosity: { is: 'uint32' } })),
  'logging.options': struct({ text: logOptions, json: logOptions }),
  shutdownGracePeriodByPodPriority: list(struct({ priority: { is: 'int32' }, shutdownGracePeriodSeconds: { is: 'int64' } })),
  reservedMemory: list(struct({ numaNode: { is: 'int32' }, limits: map({ is: 'quantity' }) })),
  registerWithTaints: list(struct({ key: text, value: text, effect: text, timeAdded: { is: 'time' } })),
  tracing: struct({ endpoint: text, samplingRatePerMillion: { is: 'int32' } }),
};

/** What is plain text for the decoder, whatever it means to the kubelet. */
const plain: Readonly<Record<string, Shape['is']>> = {
  bool: 'bool',
  int32: 'int32',
  int64: 'int64',
  uint32: 'uint32',
  float64: 'float64',
  duration: 'duration',
};

/**
 * The shape of a field's value for kubelets of `minor`.
 * Quantities and durations inside of maps are plain strings for the decoder: only the starting kubelet reads them.
 */
export function shapeOf(field: Field, minor: number): Shape {
  const object = objects[field.name];
  if (object !== undefined) return object;
  // An integer of nanoseconds until 1.25, then either that or a duration.
  if (field.name === 'logging.flushFrequency') return { is: minor < 26 ? 'int64' : 'nanoseconds' };
  const { type } = field;
  if (type === 'map<string,bool>') return map({ is: 'bool' });
  if (type === 'map<string,list<string>>') return map(list(text));
  if (type === 'list<int32>') return list({ is: 'int32' });
  if (type.startsWith('map<')) return map(text);
  if (type.startsWith('list<')) return list(text);
  return { is: plain[type] ?? 'string' } as Shape;
}
