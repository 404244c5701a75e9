import { isJsonObject } from '../api/json.ts';
import { apiErrorFrom, apiErrorFromStatus, parseRetryAfter, TransportError } from './errors.ts';
import { hasTooManyValues, MAX_JSON_VALUES } from './json-bytes.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import type { KubeList, KubeObject, Resource } from '../api/object.ts';
import type { WireResponse } from './connection.ts';
import type { Call } from './errors.ts';

// One for all answers: each call of `decode` resets it, and making a decoder costs more than decoding an answer.
const utf8 = new TextDecoder('utf-8', { fatal: true });
/** A Status is small; what is longer is no Status. */
const LARGEST_ERROR = 64 * 1024;

/** Reads answers, and trusts nothing in them that it has not looked at. */
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

  /** How long the answer's head asks to stay away. A date in it is one of the server's clock, which the head tells too: ours may be wrong by hours. */
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

  /** @throws {TransportError} when something on the way compressed what we did not ask to compress */
  refuseEncoding(response: WireResponse, call: Call): void {
    const encoding = response.header('content-encoding');
    if (encoding !== undefined && encoding !== 'identity') {
      throw new TransportError(call, 'garbage', { hint: `the answer is encoded as ${encoding.slice(0, 40)}, which was not asked for` });
    }
  }

  /**
   * @param options - progress: called for each part; isObject: the text is of one object, with no more than {@link MAX_JSON_VALUES} values
   * @throws {TransportError} too-large beyond `limit` bytes or so many values, garbage when it is no UTF-8
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
    // Asked before the bytes come, so that they do not have to.
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

  /** JSON; the text itself when something else was asked for. @throws {TransportError} when it is not JSON; none of it is repeated */
  parse(text: string, accept: string | undefined, call: Call): unknown {
    if (accept !== undefined && !accept.includes('json')) return text;
    let answer: unknown;
    try {
      answer = JSON.parse(text);
    } catch {
      // The parser's own words quote the text, so they stay here.
      const hint = /^\s*[[{]/.test(text)
        ? 'the answer is invalid JSON; a proxy may have truncated or changed it'
        : 'the answer is not JSON; is this a Kubernetes API server?';
      throw new TransportError(call, 'garbage', { hint });
    }
    if (isJsonObject(answer) && answer['kind'] === 'Status' && answer['status'] === 'Failure') throw apiErrorFromStatus(call, answer);
    return answer;
  }

  /** @param kind - undefined: any. @throws {TransportError} when it is no object of the kind asked for */
  object<T extends KubeObject>(answer: unknown, kind: string | undefined, call: Call): T {
    if (!isKubeObject(answer)) throw wrongKind(kind ?? 'object', answer, call);
    if (kind !== undefined && answer.kind !== undefined && answer.kind !== kind) throw wrongKind(kind, answer, call);
    return answer as T;
  }

  /** @throws {TransportError} when it is no list of the kind asked for */
  list<T extends KubeObject>(answer: unknown, resource: Resource, call: Call): KubeList<T> {
    const kind = `${resource.kind}List`;
    if (!isKubeObject(answer) || (answer.kind !== undefined && answer.kind !== kind)) throw wrongKind(kind, answer, call);
    const items = answer['items'] ?? []; // null for an empty list, from some servers
    if (!Array.isArray(items) || !items.every(isKubeObject)) throw wrongKind(kind, answer, call);
    return { ...answer, items: items as T[] };
  }
}

/** What every object and every list has: metadata, in which what names an object and its version is text. */
export function isKubeObject(value: unknown): value is KubeObject {
  const metadata = isJsonObject(value) ? value['metadata'] : undefined;
  if (!isJsonObject(metadata)) return false;
  const { name = '', namespace = '', uid = '', resourceVersion = '' } = metadata;
  return typeof name === 'string' && typeof namespace === 'string' && typeof uid === 'string' && typeof resourceVersion === 'string';
}

/** The answer is Kubernetes at best, but not what was asked for. */
export function wrongKind(wanted: string, answer: unknown, call: Call): TransportError {
  const kind = isJsonObject(answer) && typeof answer['kind'] === 'string' ? answer['kind'].slice(0, 60) : undefined;
  const said = kind === wanted ? `a malformed ${kind}` : `${kind === undefined ? 'JSON, but' : `"${kind}" and`} no ${wanted}`;
  return new TransportError(call, 'garbage', {
    hint: `the answer is ${said}; is this a Kubernetes API server?`,
  });
}

/** The first part of a failed answer's body. Whatever breaks while it is read, the status code is worth more. */
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
    // half an error is an error
  }
  return Buffer.concat(parts).toString('utf8', 0, LARGEST_ERROR);
}
