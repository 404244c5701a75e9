import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets as sets } from '../../../../kube/api/object.ts';
import { type AggregationLimits, EventAggregation } from '../../../../kube/controller/event-limits.ts';
import {
  cutMessage,
  eventObject,
  eventPatch,
  type EventOccurrence,
  newSeries,
  referenceTo,
  type Series,
} from '../../../../kube/controller/event.ts';

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

test('an event has the fields of those in the field', () => {
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
