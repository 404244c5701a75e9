import { isJsonObject } from '../api/json.ts';
import { apiErrorFromStatus, type Call, TransportError } from './errors.ts';
import { hasTooManyValues, HEAD_BYTES, MAX_JSON_VALUES, type TooLarge, tooLargeFrom, withoutManagedFields } from './json-bytes.ts';
import type { KubeObject } from '../api/object.ts';
import type { WatchEvent } from './client.ts';

const NEWLINE = 0x0a;
// Shared by all lines: `decode` resets its state, and constructing a decoder costs more than decoding a line.
const utf8 = new TextDecoder('utf-8', { fatal: true });
const types: ReadonlySet<unknown> = new Set(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK']);

/**
 * The events in a watch's body: one JSON text per line, cut anywhere by the network. Ends when the body does.
 * @param longestLine - bytes; a server that never ends its line cannot exhaust memory
 * @param options - stripManagedFields: without `metadata.managedFields`, if they are where servers write them; skipped: called in place of the event for each
 * line that is too long or has too many values
 * @throws {ApiError} for an ERROR event; {TransportError} for a line that is not an event, is too long or has too many values without `skipped`, or is cut
 * off by the body's end
 */
export async function* decodeWatch<T extends KubeObject>(
  body: AsyncIterable<Uint8Array>,
  call: Call,
  longestLine: number,
  { stripManagedFields = false, skipped }: { stripManagedFields?: boolean; skipped?: ((what: TooLarge) => void) | undefined } = {},
): AsyncGenerator<WatchEvent & { object: T }, void, undefined> {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** The beginning of a line that is too long, until the line ends. */
  let head: Uint8Array | undefined;
  const add = (tail: Uint8Array): void => {
    if (head !== undefined) return;
    held += tail.length;
    parts.push(tail);
    if (held <= longestLine) return;
    if (skipped === undefined) throw tooLong(call, longestLine);
    head = Buffer.concat(parts, Math.min(held, HEAD_BYTES));
    parts = [];
    held = 0;
  };
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const tail = chunk.subarray(from, end);
      from = end + 1;
      if (head !== undefined || held + tail.length > longestLine) {
        add(tail);
        if (head !== undefined) skipped?.(tooLargeFrom(head, 'bytes', ['object']));
        head = undefined;
        continue;
      }
      const line = held === 0 ? tail : Buffer.concat([...parts, tail]);
      parts = [];
      held = 0;
      if (isBlank(line)) continue;
      const text = stripManagedFields ? withoutManagedFields(line) : line;
      if (!hasTooManyValues(text)) yield eventOf<T>(text, call);
      else if (skipped === undefined) throw tooMany(call);
      else skipped(tooLargeFrom(text, 'values', ['object']));
    }
    if (from < chunk.length) add(chunk.subarray(from));
  }
  if (head !== undefined) throw new TransportError(call, 'cut', { hint: 'the watch ended in the middle of an event' });
  const rest = Buffer.concat(parts);
  if (isBlank(rest)) return;
  if (hasTooManyValues(rest)) throw tooMany(call); // too large to parse only to see whether it is complete
  // A line without its newline may still be complete: some servers omit the last newline.
  let last: unknown;
  try {
    last = parse(rest);
  } catch (cause) {
    throw new TransportError(call, 'cut', { hint: 'the watch ended in the middle of an event', cause });
  }
  yield checkedEvent<T>(last, call);
}

function eventOf<T extends KubeObject>(line: Uint8Array, call: Call): WatchEvent & { object: T } {
  let parsed: unknown;
  try {
    parsed = parse(line);
  } catch {
    throw new TransportError(call, 'garbage', { hint: 'the watch sent a line that is not JSON; is this a Kubernetes API server?' });
  }
  return checkedEvent<T>(parsed, call);
}

function parse(line: Uint8Array): unknown {
  return JSON.parse(utf8.decode(line));
}

function checkedEvent<T extends KubeObject>(event: unknown, call: Call): WatchEvent & { object: T } {
  if (isJsonObject(event) && isJsonObject(event['object'])) {
    const { type, object } = event;
    if (type === 'ERROR') throw apiErrorFromStatus(call, object);
    if (types.has(type) && isJsonObject(object['metadata'])) return event as unknown as WatchEvent & { object: T };
  }
  throw new TransportError(call, 'garbage', { hint: 'the watch sent JSON that is not a watch event; is this a Kubernetes API server?' });
}

function tooLong(call: Call, longest: number): TransportError {
  return new TransportError(call, 'too-large', { hint: `the watch sent an event of more than ${longest} bytes` });
}

function tooMany(call: Call): TransportError {
  return new TransportError(call, 'too-large', { hint: `the watch sent an event of more than ${MAX_JSON_VALUES} values` });
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09);
}
