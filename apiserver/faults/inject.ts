import { StatusError } from '../status-error.ts';
import type { Answer } from '../http/api-request.ts';
import { encode } from '../http/exchange.ts';

const reasons: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Expired',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** The error a fault answers with. 429 asks to come back in a second, as a busy server does. */
export function injectedError(status: number): StatusError {
  const details = status === 429 ? { retryAfterSeconds: 1 } : undefined;
  return new StatusError(status, reasons[status] ?? 'Unknown', `the fault plan answers with ${status}`, details);
}

/** 410, as the real server says it: a watch hears it as an event, everybody else as a status. */
export function goneAnswer(verb: string): Answer {
  const gone = new StatusError(410, 'Expired', 'too old resource version: the fault plan says so').status();
  if (verb !== 'watch') return { code: 410, json: gone };
  return { code: 200, type: 'application/json', stream: one(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`) };
}

async function* one(text: string): AsyncGenerator<string> {
  yield text;
}

/** The first half of an answer's bytes, and how many there should be; for a stream the first half of what comes first. */
export async function halfOf(answer: Answer): Promise<{ type: string; code: number; bytes: Uint8Array; announced: number | undefined }> {
  if ('stream' in answer) {
    let first = '';
    for await (const text of answer.stream) {
      first = text;
      break;
    }
    return { type: answer.type, code: answer.code, bytes: half(first), announced: undefined };
  }
  const [type, content] = 'json' in answer ? encode(answer.json, false) : [answer.type, answer.bytes];
  return { type, code: answer.code, bytes: half(content), announced: Buffer.byteLength(content) };
}

function half(content: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(content);
  return bytes.subarray(0, Math.floor(bytes.length / 2));
}
