import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventDeduper, recordNewEvents, type SetEvent, decideFor } from '../../../../controllers/common/events.ts';
import { daemonSets } from '../../../../kube/api/object.ts';
import type { EventRecorder } from '../../../../kube/controller/event-recorder.ts';

const told = (...messages: string[]): SetEvent[] => messages.map((message) => ({ type: 'Warning', reason: 'Bad', message }));

test('people are told what is new with all that is so, and nothing at looks at which nothing is', () => {
  const news = new EventDeduper();
  const set = { metadata: { name: 'web', uid: 'a' } };
  const heard: string[] = [];
  const events: Pick<EventRecorder, 'event'> = {
    event(object, type, reason, message, about) {
      assert.equal(object, set);
      heard.push([type, reason, message, about?.resource?.kind].join(' '));
    },
  };
  const looks = [[], ['x'], ['x'], ['x', 'y'], ['y'], [], ['y']].map((messages) => {
    heard.length = 0;
    recordNewEvents({ events, set, resource: daemonSets }, told(...messages), (text) => news.isNew('a', text));
    return [...heard];
  });
  const [x, y] = ['Warning Bad x DaemonSet', 'Warning Bad y DaemonSet'];
  assert.deepEqual(looks, [[], [x], [], [x, y], [y], [], [y]]);
  assert.equal(news.isNew('b', 'y'), true, 'of another set it is news');
  news.forget('a');
  assert.equal(news.isNew('a', 'y'), true, 'of a set that is gone nothing is known');
});

test('an exception while deciding is told to the author of the set, and thrown', () => {
  const set = { metadata: { name: 'web', namespace: 'ns' } };
  const told: unknown[] = [];
  const events = { event: (...event: unknown[]): void => void told.push(event) };
  const decide = (): never => {
    throw new RangeError('Maximum call stack size exceeded');
  };
  assert.throws(() => decideFor({ events, set, resource: daemonSets }, decide), RangeError);
  const message = 'The set is not synced: planning failed: Maximum call stack size exceeded';
  assert.deepEqual(told, [[set, 'Warning', 'FailedSync', message, { resource: daemonSets }]]);
  const decided = decideFor({ events, set, resource: daemonSets }, () => 7);
  assert.equal(decided, 7);
  assert.equal(told.length, 1);
});
