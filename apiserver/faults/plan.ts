import { type Fault, type FaultStatus, isOfEvents } from './fault.ts';
import { StatusError } from '../errors.ts';
import { type Answer, encode, type Line, textOf } from '../http/message.ts';
import type { Random } from '../../base/random.ts';
import type { Status } from '../../kube/api/object.ts';
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

/** Whether a fault matches a request, regardless of its count and probability. */
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
  #hasEventFaults = false;

  constructor(faults: readonly Fault[], random: Random) {
    this.#random = random;
    this.replace(faults);
  }

  /** Replaces all faults; counts start at zero. */
  replace(faults: readonly Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, spared: 0, left: fault.count ?? Infinity }));
    this.#hasEventFaults = faults.some((fault) => isOfEvents(fault, 'watch'));
  }

  /** Whether events have to be looked at one by one. */
  get hasEventFaults(): boolean {
    return this.#hasEventFaults;
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
   * @param hasNext - another event follows it in the same batch; `reorder` needs one
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
export function injectedError({ status }: FaultStatus): StatusError {
  const details = status === 429 ? { retryAfterSeconds: 1 } : undefined;
  return new StatusError(status, reasons[status] ?? 'Unknown', `the fault plan answers with ${status}`, details);
}

/** 410 Expired, as the real server sends it: to a watch as an ERROR event, to any other request as a Status. */
export function goneAnswer(verb: string): Answer {
  if (verb !== 'watch') return { code: 410, json: gone() };
  return { code: 200, type: 'application/json', stream: one(goneLine()) };
}

/** The ERROR event of an expired watch. */
function goneLine(): Line {
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
 * The lines of a watch with the faults of the plan applied, event by event. Bookmarks and errors stay as they are: the real server keeps the promises they make.
 * Two events that change places leave in one batch, so that a client that received one has received both.
 */
export async function* withEventFaults(
  batches: AsyncIterable<readonly Line[]>,
  plan: FaultPlan,
  target: Omit<FaultTarget, 'name'>,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<readonly Line[]> {
  for await (const batch of batches) {
    if (!plan.hasEventFaults) {
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
