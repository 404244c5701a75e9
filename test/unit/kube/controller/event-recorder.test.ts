import assert from 'node:assert/strict';
import {
  cutMessage,
  eventObject,
  eventPatch,
  type EventOccurrence,
  newSeries,
  referenceTo,
  type Series,
} from '../../../../kube/controller/event.ts';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { seededRandom } from '../../../../base/random.ts';
import { type KubeObject, daemonSets as sets } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError, TransportError, type TransportProblem } from '../../../../kube/client/errors.ts';
import type { EventType } from '../../../../kube/controller/event.ts';
import { EventSender, type EventSenderOptions } from '../../../../kube/controller/event-recorder.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { type AggregationLimits, EventAggregation } from '../../../../kube/controller/event-limits.ts';

const call = { method: 'POST', path: '/events', host: 'h' };
const never = new AbortController().signal;

function fails(what: number | TransportProblem): Error {
  if (typeof what === 'string') return new TransportError(call, what, { hint: 'no' });
  const reason = ({ 404: 'NotFound', 409: 'AlreadyExists' } as Record<number, string>)[what] ?? 'Other';
  return new ApiError(call, { code: what, reason, message: 'no' });
}

/** `lost:` did it, and the answer is lost. */
type Fault = number | TransportProblem | Error | 'lost' | 'hang' | undefined;

/** Holds Events as a server does; goes wrong as told, call after call. */
class Stage {
  readonly clock = new FakeClock();
  readonly calls: string[] = [];
  readonly events = new Map<string, KubeObject>();
  readonly told: string[] = [];
  readonly logged = recordedLog();
  faults: Fault[] = [];
  always: Fault;
  readonly sender: EventSender;

  constructor(options: Partial<EventSenderOptions> = {}) {
    const client = {
      create: (_: unknown, event: KubeObject, { signal }: { signal: AbortSignal }) =>
        this.#call('create', `${event.metadata.namespace}/${event.metadata.name}`, signal, (name) => {
          if (this.events.has(name)) throw fails(409);
          this.events.set(name, event);
        }),
      patch: (_: unknown, ref: { name: string; namespace: string }, patch: object, { signal }: { signal: AbortSignal }) =>
        this.#call('patch', `${ref.namespace}/${ref.name}`, signal, (name) => {
          const event = this.events.get(name);
          if (event === undefined) throw fails(404);
          this.events.set(name, { ...event, ...patch });
        }),
    } as unknown as Pick<Client, 'create' | 'patch'>;
    this.sender = new EventSender({
      client,
      clock: this.clock,
      random: seededRandom(1),
      log: this.logged.log,
      metrics: {
        sent: (how) => this.told.push(how),
        dropped: (why) => this.told.push(`dropped: ${why}`),
        retried: () => this.told.push('retried'),
        waiting() {},
      },
      ...options,
    });
  }

  say(name: string, message = 'm', reason = 'R', type: EventType = 'Normal'): void {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns', uid: name } };
    this.sender.recorder('c').event(object, type, reason, message);
  }

  /** `name x count message`, as the server has them. */
  get kept(): string[] {
    return [...this.events.values()].map((event) => {
      const { name } = event['involvedObject'] as { name: string };
      return `${name} x${String(event['count'])} ${String(event['message'])}`;
    });
  }

  async #call(verb: string, name: string, signal: AbortSignal, act: (name: string) => void): Promise<KubeObject> {
    const fault = this.faults.length > 0 ? this.faults.shift() : this.always;
    this.calls.push(fault === undefined ? verb : `${verb} ${String(fault)}`);
    await Promise.resolve();
    if (fault === 'hang') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    if (fault === undefined || fault === 'lost') act(name);
    if (fault !== undefined) throw fault instanceof Error ? fault : fails(fault === 'lost' ? 'cut' : fault);
    return { metadata: {} };
  }
}

const faultOf = (text: string): Fault => (/^\d/.test(text) ? Number(text) : /^-?$/.test(text) ? undefined : (text as Fault));

// What happens: `p` an event about pod p, `.` everything comes to rest, `forget` the server forgets its events, `later` a minute passes.
// `faults` are what becomes of the calls, one after the other, `-` where one is done; `kept` is what the server has in the end.
const sendings = table('happens | faults | calls | kept | why')(`
  p . p .        |             | create, patch                  | p x2 m | an event is created, and patched when it happens again
  p p .          |             | create                         | p x2 m | what happens again before it is sent is sent once
  p p later      | 500 500     | create 500, create 500, create | p x2 m | a server that is broken for a moment is asked again
  p p later      | lost        | create lost, create            | p x2 m | a creation whose answer is lost is made once
  p p later      | 403         | create 403                     |        | a refusal is final
  p p later      | 409         | create 409                     |        | a name that another event has is final
  p . p later | lost | create lost, create, patch | p x2 m
    | what happens again while its creation is in doubt is patched, not created beside it
  p . forget p . |             | create, patch, create          | p x2 m | an event that the server forgot is created with its count
  p . p later    | - 404 409   | create, patch 404, create 409  | p x1 m | a server that contradicts itself is not asked for ever
  p . p later    | - lost      | create, patch lost, patch      | p x2 m | a patch whose answer is lost counts nothing twice
`);
for (const { why, happens, faults, calls, kept } of sendings)
  test(`events: ${why}`, async () => {
    const stage = new Stage();
    stage.faults = faults.split(' ').map(faultOf);
    for (const word of happens.split(' ')) {
      if (word === '.') await atRest();
      else if (word === 'later') await stage.clock.advance(60_000);
      else if (word === 'forget') stage.events.clear();
      else stage.say(word);
    }
    assert.equal(stage.calls.join(', '), calls);
    assert.equal(stage.kept.join(', '), kept);
    if (kept === 'p x1 m') assert.equal(stage.told.at(-1), 'dropped: refused');
    assert.deepEqual([stage.clock.sleepers, stage.sender.waiting], [0, 0]);
  });

test('one event that always fails keeps no other one waiting for long, and is given up; a server that asks to stay away is obeyed', async () => {
  const stage = new Stage();
  stage.faults = [500];
  stage.say('bad');
  stage.say('good');
  await stage.clock.advance(2_000);
  assert.deepEqual(stage.kept, ['good x1 m', 'bad x1 m']);
  stage.always = Object.assign(fails(503), { retryAfterMs: 3_600_000 });
  stage.say('worse');
  await stage.clock.advance(59_000);
  assert.equal(stage.calls.length, 4);
  await stage.clock.advance(600_000);
  assert.equal(stage.told.at(-1), 'dropped: failed');
  assert.deepEqual([stage.calls.length, stage.clock.sleepers], [3 + 8, 0]);
});

test('when too many wait the newest is left out, which is counted and said once in a while', async () => {
  const stage = new Stage({ capacity: 3 });
  for (let at = 0; at < 10; at++) stage.say(`p${at}`);
  stage.say('p0'); // waits already, so it needs no room
  await atRest();
  assert.deepEqual(stage.kept, ['p0 x2 m', 'p1 x1 m', 'p2 x1 m']);
  assert.equal(stage.told.filter((word) => word === 'dropped: full').length, 7);
  assert.deepEqual(stage.logged.lines, ['warn: events are dropped']);
  stage.say('p9');
  await atRest();
  assert.equal(stage.kept.at(-1), 'p9 x2 m', 'what was left out is in the count of the next');
});

test('an event never throws, whatever it is given', () => {
  const stage = new Stage();
  const recorder = stage.sender.recorder('c');
  recorder.event({ metadata: { name: 'of no kind' } }, 'Normal', 'R', 'm');
  recorder.event(null as unknown as KubeObject, 'Normal', 'R', 'm');
  recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }, 'Normal', 'R', undefined as unknown as string);
  assert.deepEqual(stage.told, ['dropped: invalid', 'dropped: invalid', 'dropped: invalid']);
});

test('close sends what it can within its time, and lets go of the rest', async () => {
  const stage = new Stage();
  stage.say('sent');
  await stage.sender.close(never);
  assert.deepEqual(stage.kept, ['sent x1 m']);
  stage.say('too late');
  await atRest();
  assert.deepEqual(stage.kept, ['sent x1 m']);

  const stuck = new Stage();
  stuck.always = 'hang';
  for (const name of ['a', 'b', 'c']) stuck.say(name);
  let closed = false;
  const closing = stuck.sender.close(never).then(() => (closed = true));
  await stuck.clock.advance(1_999);
  assert.equal(closed, false);
  await stuck.clock.advance(1);
  await closing;
  assert.deepEqual(stuck.told, ['dropped: closed', 'dropped: closed', 'dropped: closed']);
  assert.deepEqual(stuck.logged.fields, [{ why: 'closed', dropped: 3 }]);
  assert.deepEqual([stuck.clock.sleepers, stuck.sender.waiting], [0, 0]);
});

const MINUTE = 60_000;
const START = Date.parse('2026-03-01T00:00:00Z');

function occurrence(message: string, more: Partial<EventOccurrence> = {}): EventOccurrence {
  const regarding = referenceTo({ metadata: { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '7' } }, sets);
  return { component: 'daemonset-controller', type: 'Normal', reason: 'SuccessfulCreate', message, regarding, ...more };
}

/** What is sent of occurrences, each at its minute: `count name-of-series message`, or `-` where it is too much. */
class Telling {
  readonly #aggregation;
  readonly #names = new Map<Series, string>();
  constructor(limits: Partial<AggregationLimits> = {}) {
    this.#aggregation = new EventAggregation(limits);
  }
  say(what: EventOccurrence, minute = 0): string {
    const { series, send } = this.#aggregation.add(what, { now: START + minute * MINUTE, monotonic: minute * MINUTE, nanos: 0 });
    if (!this.#names.has(series)) this.#names.set(series, `#${this.#names.size + 1}`);
    return `${send ? '' : '-'}${this.#names.get(series)} x${series.count} ${series.message}`;
  }
}

test('another message, reason, type, component, object or part of it is another event; another version of the object is not', () => {
  const { regarding } = occurrence('');
  const others: Partial<EventOccurrence>[] = [
    { message: 'Created pod: b' },
    { reason: 'SuccessfulDelete' },
    { type: 'Warning' },
    { component: 'statefulset-controller' },
    { regarding: { ...regarding, uid: 'newer' } },
    { regarding: { ...regarding, fieldPath: 'spec.containers{a}' } },
  ];
  for (const other of [...others, { regarding: { ...regarding, resourceVersion: '8' } }]) {
    const telling = new Telling();
    telling.say(occurrence('Created pod: a'));
    assert.match(telling.say(occurrence('Created pod: a', other)), others.includes(other) ? /^#2 x1 / : /^#1 x2 /, JSON.stringify(other));
  }
});

test('the tenth message of similar ones begins one event for all', () => {
  const telling = new Telling();
  const said = Array.from({ length: 13 }, (_, at) => telling.say(occurrence(`Created pod: ${at}`)));
  assert.deepEqual(said.slice(8), [
    '#9 x1 Created pod: 8',
    '#10 x1 (combined from similar events): Created pod: 9',
    '#10 x2 (combined from similar events): Created pod: 10',
    '#10 x3 (combined from similar events): Created pod: 11',
    '#10 x4 (combined from similar events): Created pod: 12',
  ]);
  assert.equal(telling.say(occurrence('m', { reason: 'Other' })), '#11 x1 m', 'other reasons are told as they are');
});

test('of one type about one object 25 are told, then one in five minutes; the count goes along', () => {
  const telling = new Telling();
  const said = Array.from({ length: 27 }, () => telling.say(occurrence('m')));
  assert.deepEqual(said.slice(24), ['#1 x25 m', '-#1 x26 m', '-#1 x27 m']);
  assert.equal(telling.say(occurrence('m'), 4.9), '-#1 x28 m');
  assert.equal(telling.say(occurrence('m'), 5.1), '#1 x29 m');
  assert.equal(telling.say(occurrence('m'), 5.2), '-#1 x30 m');
  const other = occurrence('m', { regarding: { ...occurrence('').regarding, name: 'other', uid: 'o' } });
  assert.equal(telling.say(other, 5.2), '#2 x1 m', 'another object has a budget of its own');
  assert.equal(telling.say(occurrence('m', { type: 'Warning' }), 5.2), '#3 x1 m', 'and so has the other type: a roll-out hides no failure');
  for (let at = 0; at < 25; at++) assert.doesNotMatch(telling.say(occurrence('m'), 100_000), /^-/, 'it fills up again');
  assert.match(telling.say(occurrence('m'), 100_000), /^-/, 'and not beyond');
});

test("an event has the fields that client-go's recorder writes", () => {
  const series = newSeries(occurrence(''), false, START, 42);
  Object.assign(series, { message: 'Created pod: a', count: 3, lastMs: START + 1_999 });
  assert.deepEqual(eventObject(series), {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `web.${(BigInt(START) * 1_000_000n + 42n).toString(16)}`, namespace: 'ns' },
    involvedObject: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '7' },
    type: 'Normal',
    reason: 'SuccessfulCreate',
    message: 'Created pod: a',
    source: { component: 'daemonset-controller' },
    count: 3,
    firstTimestamp: '2026-03-01T00:00:00Z',
    lastTimestamp: '2026-03-01T00:00:01Z',
    reportingComponent: 'daemonset-controller',
    reportingInstance: '',
  });
  assert.deepEqual(eventPatch(series), { count: 3, lastTimestamp: '2026-03-01T00:00:01Z' });
  const combined = { count: 3, lastTimestamp: '2026-03-01T00:00:01Z', message: 'Created pod: a' };
  assert.deepEqual(eventPatch({ ...series, combined: true }), combined);
});

test('a message is cut at 1,024 bytes and never within a character', () => {
  for (const [text, cut] of [
    ['x'.repeat(1024), 'x'.repeat(1024)],
    ['x'.repeat(1025), `${'x'.repeat(1020)} ...`],
    ['€'.repeat(400), `${'€'.repeat(340)} ...`],
    [`x${'😀'.repeat(300)}`, `x${'😀'.repeat(254)} ...`],
  ] as const)
    assert.equal(cutMessage(text), cut);
});

test('memory is bounded: what was not touched longest is forgotten; events about what lives in no namespace live in default', () => {
  const telling = new Telling({ remembered: 3 });
  const about = (name: string): EventOccurrence => occurrence('m', { regarding: { ...occurrence('').regarding, name } });
  for (const name of ['a', 'b', 'c', 'a', 'd']) telling.say(about(name));
  assert.deepEqual([telling.say(about('a')), telling.say(about('b'))], ['#1 x3 m', '#5 x1 m']);
  const regarding = referenceTo({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', uid: 'n1' } });
  assert.equal(eventObject(newSeries(occurrence('m', { regarding }), false, START, 0)).metadata.namespace, 'default');
});
