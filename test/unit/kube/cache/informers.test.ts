import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Informers } from '../../../../kube/cache/informers.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { pods } from '../../../../kube/api/object.ts';
import { diary, run, runs } from './informer-world.ts';
import { ScriptedApi } from './scripted-api.ts';
import { table } from '../../../support/table.ts';

describe('handlers', () => {
  test('what one throws changes nothing for the others', async (t) => {
    const failures: string[] = [];
    const world = await run(t, ['list 5: a#1@3', 'fail 500'], { onHandlerFailure: (name) => failures.push(name) });
    const other = diary();
    const broken = (): never => {
      throw new Error('broken');
    };
    world.informer.addHandlers('broken', { added: broken, updated: broken });
    world.informer.addHandlers('other', other.handlers);
    world.api.add('watch hold: MODIFIED a#1@6');
    await world.clock.advance(500);
    assert.deepEqual(failures, ['broken', 'broken']);
    assert.deepEqual(other.told, ['there a#1@3', 'updated a#1@3 a#1@6']);
  });

  test('who comes late is told what is there, who leaves nothing more, not even the event that is being told', async (t) => {
    const world = await run(t, ['list 5: a#1@3', 'watch: MODIFIED a#1@6', 'watch hold: MODIFIED a#1@7']);
    const late = diary();
    world.informer.addHandlers('remover', { updated: () => registration.remove() });
    const registration = world.informer.addHandlers('late', late.handlers);
    assert.equal(registration.synced, true);
    await world.clock.advance(500);
    assert.deepEqual(late.told, ['there a#1@6']);
    assert.equal(world.told.at(-1), 'updated a#1@6 a#1@7');
  });
});

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

  test('say which of them wait and why, and which of them grow old', async (t) => {
    const clock = new FakeClock();
    const api = new ScriptedApi('list 5: a#1@3', 'fail 403');
    const informers = new Informers({ ...options(api), clock });
    informers.of(pods);
    assert.deepEqual(informers.unsynced, [{ name: 'pods', problem: undefined }]);
    runs(t, informers);
    await clock.advance(400);
    assert.deepEqual(informers.unsynced, []);
    const [old] = informers.failing;
    assert.equal(old?.name, 'pods');
    assert.match(old?.problem?.text ?? '', /403 .*the verbs list and watch on pods are needed/);
    assert.equal(old?.problem?.forMs, 400);
    api.add('watch hold: MODIFIED a#1@6');
    await clock.advance(100);
    assert.deepEqual(informers.failing, []);
  });
});

/**
 * A request in words: `cached` the first page of a list of any version, `known 5` of one not older than 5, `newest` of the newest, `page after 5` the
 * page after one of version 5, `whole` a list in one piece; `watch 5`; `stream`, `stream 5` a watch with the present state, not older than 5.
 */
function inWords(request: string): string {
  const [verb, ...options] = request.split(' ');
  const { continue: page, limit, resourceVersion, sendInitialEvents } = Object.fromEntries(options.map((option) => option.split('=')));
  if (verb === 'watch') return [sendInitialEvents === undefined ? 'watch' : 'stream', resourceVersion].filter(Boolean).join(' ');
  if (page !== undefined) return page.replace('after-', 'page after ');
  if (resourceVersion === undefined) return limit === undefined ? 'whole' : 'newest';
  return resourceVersion === '0' ? 'cached' : `known ${resourceVersion}`;
}

/**
 * The steps of a script (scripted-api.ts), with the time that passes then, if any; what the informer asks, in words, and what it tells its handlers.
 * It asks for a present state where the first request is one.
 */
const exchanges = table('why | steps | asks | tells')(`
  # Whatever a later page says: it shows the state of the first.
  lists in pages and watches from the version of the list
    | list 5 more: a#1@3 / list 6: b#2@5 / watch hold: MODIFIED a#1@6, DELETED b#2@7
    | cached, page after 5, watch 5 | there a#1@3, there b#2@5, updated a#1@3 a#1@6, deleted b#2@7
  goes on with the version of the last event when the server ends the watch
    | list 5: a#1@3 / watch: MODIFIED a#1@6, BOOKMARK 9 / watch hold: MODIFIED a#1@10 / 500 ms
    | cached, watch 5, watch 9 | there a#1@3, updated a#1@3 a#1@6, updated a#1@6 a#1@10
  lists again after 410, and tells what it missed
    | list 5: a#1@3 b#2@4 c#3@5 / fail 410 / list 9: a#1@8 c#4@9 / watch hold
    | cached, watch 5, known 5, watch 9
    | there a#1@3, there b#2@4, there c#3@5, updated a#1@3 a#1@8, deleted c#3@5 unseen, added c#4@9, deleted b#2@4 unseen
  lists in one piece when a page has expired
    | list 5 more: a#1@3 / fail 410 / list 6: a#1@3 b#2@5 / watch hold
    | cached, page after 5, whole, watch 6 | there a#1@3, there b#2@5
  asks after a cut how far the server is, for one object, and watches on
    | list 5: a#1@3 / watch break 503 / list 5: a#1@3 / watch hold: MODIFIED a#1@6 / 1000 ms
    | cached, watch 5, known 5, watch 5 | there a#1@3, updated a#1@3 a#1@6
  lists what there is where the server was restored to an earlier state
    | list 5: a#1@3 b#2@5 / watch break 503 / fail 504 / list 4: a#1@3 c#3@4 / list 4: a#1@3 c#3@4 / list 4: a#1@3 c#3@4 / watch hold / 10000 ms
    | cached, watch 5, known 5, newest, newest, newest, watch 4 | there a#1@3, there b#2@5, added c#3@4, deleted b#2@5 unseen
  lists the newest where the server says after a cut that it is at an earlier state
    | list 5: a#1@3 / watch break 503 / list 4: / list 6: a#1@3 / watch hold / 1000 ms
    | cached, watch 5, known 5, newest, watch 6 | there a#1@3
  doubts a list that goes back, and takes nothing from it
    | list 5: a#1@5 / fail 410 / list 3: a#1@3 / list 6: a#1@5 / watch hold / 500 ms
    | cached, watch 5, known 5, newest, watch 6 | there a#1@5
  lists again when events came out of order
    | list 5: a#1@5 / watch hold: MODIFIED a#1@9, ADDED b#2@8 / list 9: a#1@9 b#2@8 / watch hold
    | cached, watch 5, known 9, watch 9 | there a#1@5, updated a#1@5 a#1@9, added b#2@8
  waits where events come out of order again, whatever old ones come before
    | list 5: a#1@5 / watch hold: ADDED b#2@4 / list 6: a#1@5 b#2@4 / watch hold: MODIFIED a#1@6, ADDED c#3@4 / 499 ms
    | cached, watch 5, known 5, watch 6 | there a#1@5, added b#2@4, updated a#1@5 a#1@6
  lists again at once after 410 where events came since the last
    | list 5: a#1@3 / fail 410 / list 6: a#1@3 / watch break 410: MODIFIED a#1@7 / list 7: a#1@7 / watch hold
    | cached, watch 5, known 5, watch 6, known 7, watch 7 | there a#1@3, updated a#1@3 a#1@7
  takes the present state from a watch where the server has it
    | watch hold: ADDED a#1@3, ADDED b#2@4, DELETED b#2@5, BOOKMARK 5 end, MODIFIED a#1@6
    | stream | there a#1@3, updated a#1@3 a#1@6
  lists where the server refuses such a watch
    | fail 422 / list 5: a#1@3 / watch hold
    | stream, cached, watch 5 | there a#1@3
  waits where the server refuses a list
    | fail 422 / list 5: a#1@3 / watch hold / 499 ms
    | cached |
  lists at once where such a watch falls silent
    | watch hold: ADDED a#1@3 / list 5: a#1@3 / watch hold / 30000 ms
    | stream, cached, watch 5 | there a#1@3
  does not follow a list without a version
    | list : a#1@3 / list 5: a#1@3 / watch hold / 500 ms
    | cached, cached, watch 5 | there a#1@3
  does not turn the same page for ever
    | list 5 more: a#1@3 / list 5 more: a#1@3 / list 5: a#1@3 / watch hold / 500 ms
    | cached, page after 5, cached, watch 5 | there a#1@3
  takes nothing from a list with an item that has no name, and forgets nothing
    | list 5: a#1@3 / fail 410 / list 9: b#2@8 ? / list 9: b#2@8 / watch hold / 500 ms
    | cached, watch 5, known 5, known 5, watch 9 | there a#1@3, added b#2@8, deleted a#1@3 unseen
  takes nothing from an event without a name, and waits before it asks again
    | list 5: a#1@3 / watch: ADDED ?, MODIFIED a#1@7 / watch hold / 499 ms
    | cached, watch 5 | there a#1@3
  lists in pages where such a watch breaks twice
    | watch break: ADDED a#1@3 / watch break: ADDED a#1@3 / list 5: a#1@3 / watch hold / 2000 ms
    | stream, stream, cached, watch 5 | there a#1@3
  doubts a present state that goes back, and watches it no further
    | watch break 410: ADDED a#1@5, BOOKMARK 5 end / watch hold: ADDED a#1@3, BOOKMARK 3 end, MODIFIED a#1@6 / list 6: a#1@5 / watch hold / 500 ms
    | stream, stream 5, newest, watch 6 | there a#1@5
  takes no present state with an event that has no name
    | watch: ADDED a#1@3, ADDED ?, BOOKMARK 7 end / watch hold: ADDED a#1@3, BOOKMARK 7 end / 500 ms
    | stream, stream | there a#1@3
  takes the newest of each object out of a present state that comes in disorder
    | watch hold: ADDED a#1@5, ADDED a#1@4, ADDED b#2@4, DELETED b#2@3, BOOKMARK 6, BOOKMARK 7 end, MODIFIED a#1@8
    | stream | there a#1@5, there b#2@4, updated a#1@5 a#1@8
  lists where such a watch never says that it is complete
    | watch: ADDED a#1@3 / watch: ADDED a#1@3 / list 5: a#1@3 / watch hold / 2000 ms
    | stream, stream, cached, watch 5 | there a#1@3
  leaves an object that is too large out of a present state
    | watch hold: ADDED a#1@3, ADDED big#2@4!, BOOKMARK 5 end, MODIFIED a#1@6
    | stream | there a#1@3, updated a#1@3 a#1@6
  takes one that is too large as deleted where a present state says so
    | watch break 410: ADDED a#1@3, ADDED b#2@4, BOOKMARK 5 end / watch hold: ADDED a#1@3, DELETED b#2@6!, BOOKMARK 7 end
    | stream, stream 5 | there a#1@3, there b#2@4, deleted b#2@4 unseen
  leaves an object that is too large out of a list
    | list 5: a#1@3 big#2@4! c#3@5 / watch hold
    | cached, watch 5 | there a#1@3, there c#3@5
  passes over an event that is too large, and those after it come on the same watch
    | list 5: a#1@3 / watch hold: ADDED big#2@101!, MODIFIED big#2@102!, MODIFIED a#1@103
    | cached, watch 5 | there a#1@3, updated a#1@3 a#1@103
  keeps one that grew too large as it was read last, also over a relist, until it is gone
    | list 5: a#1@3 b#2@4 / watch: MODIFIED a#1@101, MODIFIED b#2@102! / fail 410 / list 103: b#2@102! a#1@103 / watch hold: DELETED b#2@104! / 500 ms
    | cached, watch 5, watch 102, known 102, watch 103 | there a#1@3, there b#2@4, updated a#1@3 a#1@101, updated a#1@101 a#1@103, deleted b#2@104
  tells that one is gone whose successor is too large
    | list 5: a#1@3 b#2@4 / watch hold: ADDED b#9@101!
    | cached, watch 5 | there a#1@3, there b#2@4, deleted b#2@4 unseen
`);

describe('what an informer asks and tells', () => {
  for (const { why, steps, asks, tells } of exchanges)
    test(why, async (t) => {
      const [script = '', ms = 0] = steps.split(/ \/ (\d+) ms$/);
      const world = await run(t, script.split(' / '), { streams: asks.startsWith('stream'), selection: { labelSelector: 'x' } });
      await world.clock.advance(Number(ms));
      assert.equal(world.api.requests.map(inWords).join(', '), asks);
      assert.ok(world.api.requests.every((request) => request.includes(' labelSelector=x')));
      assert.equal(world.told.join(', '), tells);
    });

  test('says that it is synced once the list is complete', async (t) => {
    const world = await run(t, ['list 5 more: a#1@3', 'fail 500']);
    assert.equal(world.informer.synced, false);
    assert.equal(world.informer.version, '');
    assert.deepEqual(world.told, [], 'half a list is no list');
    world.api.add('list 7: a#1@3 b#2@6', 'watch hold');
    const synced = world.informer.whenSynced(new AbortController().signal);
    await world.clock.advance(500);
    await synced;
    assert.equal(world.informer.version, '7');
    assert.deepEqual(world.told, ['there a#1@3', 'there b#2@6']);
  });

  test('names what is too large once in the log, however often it changes, and is in no trouble', async (t) => {
    const world = await run(t, ['list 5: big#2@4!', 'watch hold: MODIFIED big#2@6!, DELETED big#2@7!']);
    const said = world.lines.flatMap((line, at) => (line.startsWith('error') || line.startsWith('warn') ? [world.fields[at]] : []));
    assert.deepEqual(said, [{ object: 'ns/big', uid: '2', why: 'it has more bytes than this client accepts' }]);
    assert.equal(world.informer.problem, undefined);
  });
});
