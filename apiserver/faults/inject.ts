import type { Status } from '../../kube/api/object.ts';
import { StatusError } from '../status-error.ts';
import { encode, textOf } from '../http/answer-text.ts';
import type { Answer, Line } from '../http/api-request.ts';

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
  if (verb !== 'watch') return { code: 410, json: gone() };
  return { code: 200, type: 'application/json', stream: one(goneLine()) };
}

/** The event that tells a watch of it. */
export function goneLine(): Line {
  return { type: 'ERROR', name: '', text: `${JSON.stringify({ type: 'ERROR', object: gone() })}\n` };
}

function gone(): Status {
  return new StatusError(410, 'Expired', 'too old resource version: the fault plan says so').status();
}

async function* one(line: Line): AsyncGenerator<readonly Line[]> {
  yield [line];
}

/** The first half of an answer's bytes, and how many there should be; for a stream the first half of what comes first. */
export async function halfOf(answer: Answer): Promise<{ type: string; code: number; bytes: Uint8Array; announced: number | undefined }> {
  if ('stream' in answer) {
    let first = '';
    for await (const batch of answer.stream) {
      first = textOf(batch);
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
