import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallCounter, callsText, readsOf, writesOf } from '../../../../bench/daemonset/calls.ts';

const call = (username: string, verb: string, objectRef?: object, requestURI = '/'): string =>
  `${JSON.stringify({ kind: 'Event', verb, user: { username }, ...(objectRef === undefined ? {} : { objectRef }), requestURI })}\n`;

const log = [
  call('us', 'create', { resource: 'pods', namespace: 'a' }),
  call('us', 'create', { resource: 'pods', namespace: 'b', name: 'web' }),
  call('them', 'create', { resource: 'pods' }),
  call('us', 'update', { resource: 'daemonsets', subresource: 'status' }),
  call('us', 'create', { resource: 'events' }),
  call('us', 'list', { resource: 'nodes' }),
  call('us', 'get', undefined, '/api?timeout=32s'),
].join('');

test('calls are counted by user, verb, kind and subresource', () => {
  const counter = new CallCounter('us');
  counter.add(log);
  assert.equal(callsText(counter.calls), 'create pods 2, create events 1, get /api 1, list nodes 1, update daemonsets/status 1');
  assert.equal(writesOf(counter.calls), 3, 'events are not counted');
  assert.equal(readsOf(counter.calls), 2);
});

test('lines may be cut anywhere', () => {
  const counter = new CallCounter('us');
  for (let at = 0; at < log.length; at += 17) counter.add(log.slice(at, at + 17));
  assert.equal(writesOf(counter.calls) + readsOf(counter.calls), 5);
});

test('nobody called', () => {
  const counter = new CallCounter('nobody');
  counter.add(log);
  assert.equal(callsText(counter.calls), 'none');
});
