import { isJsonObject, type JsonObject, setField } from '../api/json.ts';
import { isKubeObject, wrongKind } from './answer.ts';
import { apiErrorFromStatus, type Call, TransportError } from './errors.ts';
import { hasTooManyValues, IN_ITEM, MAX_JSON_VALUES, type TooLarge, tooLargeFrom, withoutManagedFields } from './json-bytes.ts';
import { ListDecoder, ListSyntaxError } from './list-decoder.ts';
import type { KubeList, KubeObject, Resource } from '../api/object.ts';

export interface ListReading<T> {
  resource: Resource;
  call: Call;
  each: (item: T) => void;
  /** Bytes of one item, or of one other field. */
  longestItem: number;
  /** Called in place of `each` for an item with more bytes, or too many values. @default the list fails */
  skipped?: ((what: TooLarge) => void) | undefined;
  /** Yields to the event loop. */
  pause: () => Promise<void>;
}

/** Bytes between two pauses. Splitting and parsing this much takes a few milliseconds. */
const TURN_BYTES = 256 * 1024;

/**
 * Reads a list's body item by item. No item is kept; an error of `each` ends the reading.
 * @returns the list's metadata
 * @throws {ApiError} for a Status in its place; {TransportError} garbage for anything but a list of this kind, too-large for an item beyond `longestItem`
 * without `skipped`, cut when the body ends in the middle
 */
export async function readList<T extends KubeObject>(
  body: AsyncIterable<Uint8Array>,
  { resource, call, each, longestItem, skipped, pause }: ListReading<T>,
): Promise<KubeList['metadata']> {
  const kind = `${resource.kind}List`;
  const parse = jsonReader(call);
  const fields: JsonObject = {};
  let turn = 0;
  const tooManyValues = (text: Uint8Array): void => {
    if (skipped === undefined) throw new ListSyntaxError('too-large', `an item has more than ${MAX_JSON_VALUES} values`);
    skipped(tooLargeFrom(text, 'values'));
  };
  const decoder = new ListDecoder(
    {
      items() {
        // The kind is usually known by now, so `each` gets no objects of another kind.
        refuseOtherKind(fields, kind, call);
      },
      item(text) {
        // Counted as in watches: fields that no cache keeps must not cause an object to be left out.
        const kept = hasTooManyValues(text) ? withoutManagedFields(text, IN_ITEM) : text;
        if (hasTooManyValues(kept)) return tooManyValues(kept);
        const item = parse(kept);
        if (!isKubeObject(item)) throw wrongKind(kind, fields, call);
        each(item as T);
      },
      field(name, value) {
        setField(fields, parse(name) as string, parse(value));
      },
      tooLarge: skipped && ((head) => skipped(tooLargeFrom(head, 'bytes'))),
    },
    longestItem,
  );
  try {
    for await (const chunk of body) {
      for (let from = 0; from < chunk.length; from += TURN_BYTES) {
        const part = chunk.length <= TURN_BYTES ? chunk : chunk.subarray(from, from + TURN_BYTES);
        decoder.push(part);
        turn += part.length;
        if (turn < TURN_BYTES) continue;
        turn = 0;
        await pause();
      }
    }
  } catch (error) {
    if (!(error instanceof ListSyntaxError)) throw error;
    const hint = error.problem === 'too-large' ? error.message : `${error.message}; is this a Kubernetes API server?`;
    throw new TransportError(call, error.problem, { hint: `the answer cannot be read: ${hint}` });
  }
  if (!decoder.isComplete) throw new TransportError(call, 'cut', { hint: 'the answer ended in the middle of the list' });
  refuseOtherKind(fields, kind, call);
  const { metadata, items = null } = fields;
  if (!isJsonObject(metadata) || items !== null) throw wrongKind(kind, fields, call); // null: an empty list, from some servers
  return metadata;
}

function refuseOtherKind(fields: JsonObject, wanted: string, call: Call): void {
  if (fields['kind'] === 'Status' && fields['status'] === 'Failure') throw apiErrorFromStatus(call, fields);
  // The `status` of a Status may not have arrived yet.
  if (fields['kind'] !== undefined && fields['kind'] !== wanted) throw wrongKind(wanted, fields, call);
}

/** The parser's message quotes the text, so it is not passed on. */
function jsonReader(call: Call): (text: Uint8Array) => unknown {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return JSON.parse(utf8.decode(bytes));
    } catch {
      throw new TransportError(call, 'garbage', { hint: 'the answer is invalid JSON; a proxy may have truncated or changed it' });
    }
  };
}
