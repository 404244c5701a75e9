import { isOfEvents } from './fault.ts';
import { StatusError } from '../errors.ts';
import { encode, textOf } from '../http/body.ts';
import type { Random } from '../../base/random.ts';
import type { Fault } from './fault.ts';
import type { Status } from '../../kube/api/object.ts';
import type { Answer, Line } from '../http/api-request.ts';
import type { Clock } from '../../base/clock.ts';

/** What a fault is chosen by. */
export interface FaultTarget {
  verb: string;
  resource: string;
  subresource: string;
  /** Of the object, where one is named. */
  name: string;
  /** A read that may be answered from an older state: `resourceVersion=0`, or not older than some version. @default false */
  mayBeStale?: boolean;
}

/** Whether a fault is about a request; says nothing about counts and chance. */
export function isAbout(fault: Pick<Fault, 'verb' | 'resource' | 'name'>, target: FaultTarget): boolean {
  const resource = target.subresource === '' ? target.resource : `${target.resource}/${target.subresource}`;
  return (
    (fault.verb === '*' || fault.verb === target.verb) &&
    (fault.resource === '*' || fault.resource === resource) &&
    (fault.name === undefined || fault.name === target.name)
  );
}

interface Entry {
  fault: Fault;
  spared: number;
  left: number;
}

/** Which requests and events go wrong, and how. The first fault that is about one, not used up and lucky counts. */
export class FaultPlan {
  readonly #random: Random;
  #faults: Entry[] = [];
  #troublesWatches = false;

  constructor(faults: readonly Fault[], random: Random) {
    this.#random = random;
    this.replace(faults);
  }

  /** New faults; counts start anew. */
  replace(faults: readonly Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, spared: 0, left: fault.count ?? Infinity }));
    this.#troublesWatches = faults.some((fault) => isOfEvents(fault, 'watch'));
  }

  /** Whether events have to be looked at one by one. */
  get troublesWatches(): boolean {
    return this.#troublesWatches;
  }

  /** The fault of this request, which uses up one of its count. */
  match(target: FaultTarget): Fault | undefined {
    return this.#first((fault) => {
      if (isOfEvents(fault, target.verb) || !isAbout(fault, target)) return false;
      return fault.action !== 'stale' || target.mayBeStale === true;
    });
  }

  /**
   * The fault of one event of a watch, which uses up one of its count.
   * @param hasNext - another event goes out with it; without one there is nothing to change places with
   */
  matchEvent(target: FaultTarget, hasNext: boolean): Fault | undefined {
    return this.#first((fault) => isOfEvents(fault, 'watch') && isAbout(fault, target) && (hasNext || fault.action !== 'reorder'));
  }

  #first(concerns: (fault: Fault) => boolean): Fault | undefined {
    for (const entry of this.#faults) {
      const { fault } = entry;
      if (entry.left <= 0 || !concerns(fault)) continue;
      if (entry.spared < (fault.after ?? 0)) {
        entry.spared += 1;
        continue;
      }
      if (fault.probability !== undefined && this.#random() >= fault.probability) continue;
      entry.left -= 1;
      return fault;
    }
    return undefined;
  }
}

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

/**
 * The lines of a watch as the plan troubles them, event by event. Bookmarks and errors are left alone: they are promises of the server, and none may be
 * broken that the real one keeps. Two events that change places always leave in one batch, so that whoever has heard one has heard both.
 */
export async function* troubled(
  batches: AsyncIterable<readonly Line[]>,
  plan: FaultPlan,
  target: Omit<FaultTarget, 'name'>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  for await (const batch of batches) {
    if (!plan.troublesWatches) {
      yield batch;
      continue;
    }
    let out: Line[] = [];
    for (let at = 0; at < batch.length; at++) {
      const line = batch[at];
      if (line === undefined) continue;
      const next = batch[at + 1];
      const hasNext = next !== undefined && isChange(next);
      const fault = isChange(line) ? plan.matchEvent({ ...target, name: line.name }, hasNext) : undefined;
      const action = fault?.action;
      if (action === 'duplicate') out.push(line, line);
      else if (action === 'reorder' && hasNext) {
        out.push(next, line);
        at += 1;
      } else if (fault && action === 'lag') {
        if (out.length > 0) yield out;
        out = [line];
        await clock.sleep(fault.ms, signal);
      } else if (action === 'early-gone') {
        yield [...out, goneLine()];
        return;
      } else if (action === 'truncate') {
        yield [...out, { ...line, text: line.text.slice(0, Math.floor(line.text.length / 2)) }];
        return;
      } else out.push(line);
    }
    if (out.length > 0) yield out;
  }
}

function isChange({ type }: Line): boolean {
  return type !== 'BOOKMARK' && type !== 'ERROR';
}
