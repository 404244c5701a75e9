import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, test } from 'node:test';
import { Informers } from '../../../../kube/cache/informers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { pods, runs } from './informer-world.ts';
import { ScriptedApi } from './scripted-api.ts';

describe('the caches of a process', () => {
  const options = (api: ScriptedApi) => ({
    client: api.client,
    clock: new FakeClock(),
    random: () => 0,
    log: recordedLog().log,
    streams: false,
  });

  test('readers of one selection share a cache, which keeps what all of them need', async () => {
    const api = new ScriptedApi('list 5: a#1@3', 'watch hold');
    const informers = new Informers(options(api));
    const one = informers.of(pods, { fields: ['metadata.labels'] });
    assert.equal(informers.of(pods, { fields: ['spec.nodeName'], indexes: { all: () => ['x'] } }), one);
    assert.equal(informers.of(pods, {}, { labelSelector: '' }), one);
    assert.notEqual(informers.of(pods, {}, { fieldSelector: 'spec.nodeName=a' }), one);
    assert.deepEqual(
      informers.unsynced.map(({ name }) => name),
      ['pods', 'pods?fieldSelector=spec.nodeName=a'],
    );
    const ending = new AbortController();
    const running = one.run(ending.signal);
    await one.whenSynced(ending.signal);
    assert.equal(one.indexed('all', 'x').length, 1);
    assert.throws(() => informers.of(pods), /already running/);
    ending.abort();
    await running;
  });

  test('waiting for it ends with the signal', async () => {
    const informers = new Informers(options(new ScriptedApi('fail 403')));
    informers.of(pods);
    const ending = new AbortController();
    const waiting = assert.rejects(informers.whenSynced(ending.signal), /enough/);
    ending.abort(new Error('enough'));
    await waiting;
    await assert.rejects(informers.whenSynced(ending.signal), /enough/);
  });

  test('waiting leaves nothing at the signal', async () => {
    const informers = new Informers(options(new ScriptedApi('list 5:', 'watch hold')));
    const informer = informers.of(pods);
    const [ending, patience] = [new AbortController(), new AbortController()];
    const running = informers.run(ending.signal);
    await informer.whenSynced(patience.signal);
    assert.deepEqual(getEventListeners(patience.signal, 'abort'), []);
    ending.abort();
    await running;
  });

  test('say which of them wait and why, and which of them grow old', async (t) => {
    const clock = new FakeClock();
    const api = new ScriptedApi('list 5: a#1@3', 'fail 403');
    const informers = new Informers({ ...options(api), clock });
    informers.of(pods);
    assert.deepEqual(informers.unsynced, [{ name: 'pods', problem: undefined }]);
    runs(t, informers);
    await clock.advance(400);
    assert.deepEqual(informers.unsynced, []);
    const [old] = informers.troubled;
    assert.equal(old?.name, 'pods');
    assert.match(old?.problem?.text ?? '', /403 .*the verbs list and watch on pods are needed/);
    assert.equal(old?.problem?.forMs, 400);
    api.add('watch hold: MODIFIED a#1@6');
    await clock.advance(100);
    assert.deepEqual(informers.troubled, []);
  });

  test('nothing is added to them once they run', async () => {
    const informers = new Informers(options(new ScriptedApi('list 5:', 'watch hold')));
    informers.of(pods);
    assert.throws(() => informers.of({ ...pods, version: 'v2' }), /pods is already read in version v1, and cannot also be read in v2/);
    const ending = new AbortController();
    const running = informers.run(ending.signal);
    assert.throws(() => informers.of({ ...pods, resource: 'nodes' }), /the caches are already running; request nodes before they start/);
    assert.throws(() => informers.of(pods), /already running/);
    ending.abort();
    await running;
  });

  test('end together when one of them breaks', async () => {
    const clock = new FakeClock();
    const informers = new Informers({ ...options(new ScriptedApi('list 5:', 'watch hold')), clock, resyncMs: 60_000 });
    const one = informers.of(pods);
    informers.of({ ...pods, resource: 'nodes' });
    const ending = new AbortController();
    const first = one.run(ending.signal);
    await assert.rejects(informers.run(ending.signal), /already running/);
    ending.abort();
    await first;
    assert.equal(clock.sleepers, 0);
  });
});
