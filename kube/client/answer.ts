import { isJsonObject } from '../api/json.ts';
import { apiErrorFrom, apiErrorFromStatus, parseRetryAfter, TransportError } from './errors.ts';
import { hasTooManyValues, MAX_JSON_VALUES } from './json-bytes.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeList, KubeObject, Resource } from '../api/object.ts';
import type { WireResponse } from './connection.ts';
import type { Call } from './errors.ts';

// Shared by all answers: `decode` resets its state, and constructing a decoder costs more than decoding an answer.
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** A Status is small; a longer body is not a Status. */
const LARGEST_ERROR = 64 * 1024;

/** Reads answers, and trusts no part of them unchecked. */
export class AnswerReader {
  readonly #clock: Pick<Clock, 'now'>;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  /** @throws {ApiError} unless the status is 2xx */
  async refuseFailure(response: WireResponse, call: Call): Promise<void> {
    if (response.status >= 200 && response.status < 300) return;
    throw apiErrorFrom(call, response.status, await errorBody(response), this.retryAfterMs(response));
  }

  /** The wait that `Retry-After` asks for, in ms. A date in it is compared with the answer's `Date` header, since the local clock may be wrong by hours. */
  retryAfterMs(response: WireResponse): Millis | undefined {
    const retryAfter = response.header('retry-after');
    if (retryAfter === undefined) return undefined;
    const sentAt = Date.parse(response.header('date') ?? '');
    return parseRetryAfter(retryAfter, Number.isNaN(sentAt) ? this.#clock.now() : sentAt);
  }

  /** Reads a failed answer to its end, so that its connection can be used again. */
  async skip(response: WireResponse): Promise<void> {
    await errorBody(response);
  }

  /** @throws {TransportError} when the answer is compressed, which was not requested */
  refuseEncoding(response: WireResponse, call: Call): void {
    const encoding = response.header('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') {
      throw new TransportError(call, 'garbage', { hint: `the answer is encoded as ${encoding.slice(0, 40)}, which was not asked for` });
    }
  }

  /**
   * @param options - progress: called for each chunk; isObject: the text is one object, which may have at most {@link MAX_JSON_VALUES} values
   * @throws {TransportError} too-large beyond `limit` bytes or that many values, garbage when it is not UTF-8
   */
  async text(
    response: WireResponse,
    limit: number,
    call: Call,
    { progress = () => {}, isObject: isOne = false }: { progress?: (() => void) | undefined; isObject?: boolean } = {},
  ): Promise<string> {
    this.refuseEncoding(response, call);
    const tooLarge = () =>
      new TransportError(call, 'too-large', { hint: `the answer has more than ${limit} bytes, which is more than this client accepts` });
    // Checked first, so that a body that is too large is not received.
    if (Number(response.header('content-length') ?? 0) > limit) throw tooLarge();
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body) {
      bytes += part.length;
      if (bytes > limit) throw tooLarge();
      progress();
      parts.push(part);
    }
    const [only] = parts;
    const whole = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes);
    if (isOne && hasTooManyValues(whole)) {
      const hint = `the object has more than ${MAX_JSON_VALUES} values, which is more than this client accepts; kubectl can make it smaller`;
      throw new TransportError(call, 'too-large', { hint });
    }
    try {
      return utf8.decode(whole);
    } catch (cause) {
      throw new TransportError(call, 'garbage', { hint: 'the answer is not UTF-8 text; is this a Kubernetes API server?', cause });
    }
  }

  /** Parses JSON; returns the text itself when another type was requested. @throws {TransportError} when it is not JSON; the message does not quote it */
  parse(text: string, accept: string | undefined, call: Call): unknown {
    if (accept !== undefined && !accept.includes('json')) return text;
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      // The parser's message quotes the text, so it is not passed on.
      const hint = /^\s*[[{]/.test(text)
        ? 'the answer is invalid JSON; a proxy may have truncated or changed it'
        : 'the answer is not JSON; is this a Kubernetes API server?';
      throw new TransportError(call, 'garbage', { hint });
    }
    if (isJsonObject(answer) && answer['kind'] === 'Status' && answer['status'] === 'Failure') throw apiErrorFromStatus(call, answer);
    return answer;
  }

  /** @param kind - undefined: any. @throws {TransportError} when it is not an object of that kind */
  object<T extends KubeObject>(answer: unknown, kind: string | undefined, call: Call): T {
    if (!isKubeObject(answer)) throw wrongKind(kind ?? 'object', answer, call);
    if (kind !== undefined && answer.kind !== undefined && answer.kind !== kind) throw wrongKind(kind, answer, call);
    return answer as T;
  }

  /** @throws {TransportError} when it is not a list of that kind */
  list<T extends KubeObject>(answer: unknown, resource: Resource, call: Call): KubeList<T> {
    const kind = `${resource.kind}List`;
    if (!isKubeObject(answer) || (answer.kind !== undefined && answer.kind !== kind)) throw wrongKind(kind, answer, call);
    const items = answer['items'] ?? []; // null for an empty list, from some servers
    if (!Array.isArray(items) || !items.every(isKubeObject)) throw wrongKind(kind, answer, call);
    return { ...answer, items: items as T[] };
  }
}

/** Whether `value` has the metadata of an object or list: name, namespace, uid and resourceVersion are strings where present. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = isJsonObject(value) ? value['metadata'] : undefined;
  if (!isJsonObject(metadata)) return false;
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return typeof name === 'string' && typeof namespace === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
}

/** The error for an answer that is not of the requested kind. */
export function wrongKind(wanted: string, answer: unknown, call: Call): TransportError {
  const kind = isJsonObject(answer) && typeof answer['kind'] === 'string' ? answer['kind'].slice(0, 60) : undefined;
  const said = kind === wanted ? `a malformed ${kind}` : `${kind === undefined ? 'JSON, but' : `"${kind}" and`} no ${wanted}`;
  return new TransportError(call, 'garbage', {
    hint: `the answer is ${said}; is this a Kubernetes API server?`,
  });
}

/** The first part of a failed answer's body. Read errors are ignored: the status code matters more. */
async function errorBody(response: WireResponse): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of response.body) {
      parts.push(part);
      bytes += part.length;
      if (bytes > LARGEST_ERROR) break;
    }
  } catch {
    // use the part that was read
  }
  return Buffer.concat(parts).toString('utf8', 0, LARGEST_ERROR);
}
