import { type Fault, type FaultStatus, isOfEvents } from './fault.ts';
import { StatusError } from '../errors.ts';
import { type Answer, encode, type Line, textOf } from '../http/message.ts';
import type { Random } from '../../base/random.ts';
import type { Status } from '../../kube/api/object.ts';
import type { Clock } from '../../base/clock.ts';

/** The properties that faults match. */
export interface FaultTarget {
  verb: string;
  resource: string;
  subresource: string;
  /** Name of the object; '' if the request has none. */
  name: string;
  /** A read whose response may come from an older state: `resourceVersion=0`, or not older than some version. @default false */
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

/** Decides which requests and events get which fault: the first one that matches, is not used up, and wins its random draw. */
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

  /** Whether the plan has faults of events, so that each event must be checked. */
  get hasEventFaults(): boolean {
    return this.#hasEventFaults;
  }

  /** The fault for this request; decrements the remaining count. */
  match(target: FaultTarget): Fault | undefined {
    return this.#first((fault) => {
      if (isOfEvents(fault, target.verb) || !isAbout(fault, target)) return false;
      return fault.action !== 'stale' || target.mayBeStale === true;
    });
  }

  /**
   * The fault for one event of a watch; decrements the remaining count.
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

/** The error that a fault responds with. 429 has retryAfterSeconds 1, as from an overloaded server. */
export function injectedError({ status }: FaultStatus): StatusError {
  const details = status === 429 ? { retryAfterSeconds: 1 } : undefined;
  return new StatusError(status, reasons[status] ?? 'Unknown', `the fault plan answers with ${status}`, details);
}

/** 410 Expired, as the real server sends it: to a watch as an ERROR event, to any other request as a Status. */
export function expiredAnswer(verb: string): Answer {
  if (verb !== 'watch') return { code: 410, json: expiredStatus() };
  return { code: 200, type: 'application/json', stream: one(expiredLine()) };
}

/** The ERROR event of an expired watch. */
function expiredLine(): Line {
  return { type: 'ERROR', name: '', text: `${JSON.stringify({ type: 'ERROR', object: expiredStatus() })}\n` };
}

function expiredStatus(): Status {
  return new StatusError(410, 'Expired', 'too old resource version: the fault plan says so').status();
}

async function* one(line: Line): AsyncGenerator<readonly Line[]> {
  yield [line];
}

/** The first half of a response's bytes, and the announced length; for a stream half of its first batch. */
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
 * The lines of a watch with the faults of the plan applied, event by event. Bookmarks and errors are unchanged: a real server never breaks their guarantees.
 * Two reordered events are sent in one batch, so that a client that received one has received both.
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
        yield [...out, expiredLine()];
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
