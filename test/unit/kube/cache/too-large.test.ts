import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { realClock } from '../../../../base/clock.ts';
import { standIn } from '../client/api-stand-in.ts';
import type { Response } from '../client/api-stand-in.ts';
import { object, written } from './notation.ts';
import { pods } from './informer-world.ts';

const LIMIT = 2_000;

/** An object as Go's servers write it, metadata first. @param text - as in `object`; `web#1@5!` is too large */
function wire(text: string): KubeObject {
  const made = object(text.replace('!', ''));
  return text.endsWith('!') ? { ...made, spec: { env: '<'.repeat(LIMIT) } } : made;
}

const line = (type: string, text: string): string => `${JSON.stringify({ type, object: wire(text) })}\n`;

interface Server {
  informer: SharedInformer<KubeObject>;
  told: string[];
  requests: string[];
  errors: unknown[];
  /** Sends these lines on the watch that stands. */
  send(...lines: string[]): Promise<void>;
  /** Ends the watch as one that is too old, so that the next request is a list of these. */
  relist(items: string): Promise<void>;
  until(isSo: () => boolean): Promise<void>;
}

/** A server that is told what to answer, over real HTTP, and a cache that takes objects of 2,000 bytes. */
async function served(t: TestContext, first: string): Promise<Server> {
  let items = first;
  let watch = Promise.withResolvers<Response>();
  const requests: string[] = [];
  const server = await standIn('http', ({ url = '' }, response) => {
    requests.push(url.includes('watch=true') ? `watch ${/resourceVersion=(\w+)/.exec(url)?.[1]}` : 'list');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (!url.includes('watch=true')) {
      const list = { kind: 'PodList', apiVersion: 'v1', metadata: { resourceVersion: '100' }, items: items.split(' ').map(wire) };
      return void response.end(JSON.stringify(list));
    }
    response.flushHeaders();
    watch.resolve(response);
  });
  const { log, lines, fields } = recordedLog();
  const client = createClient({ origin: 'test', server: server.url }, { largestObject: LIMIT });
  const informer = new SharedInformer<KubeObject>({
    resource: pods,
    client,
    clock: realClock,
    random: () => 0,
    log,
    streams: false,
  });
  const told: string[] = [];
  const changed = new EventTarget();
  const tell = (text: string): void => {
    told.push(text);
    changed.dispatchEvent(new Event('change'));
  };
  informer.addHandlers('diary', {
    added: (made) => tell(`added ${written(made)}`),
    updated: (_before, after) => tell(`updated ${written(after)}`),
    deleted: (last, unseen) => tell(`deleted ${written(last)}${unseen ? ' unseen' : ''}`),
  });
  const ending = new AbortController();
  const running = informer.run(ending.signal);
  t.after(async () => {
    ending.abort();
    await running;
    await client.close();
    await server[Symbol.asyncDispose]();
  });
  await informer.whenSynced(ending.signal);
  const world: Server = {
    informer,
    told,
    requests,
    get errors() {
      return lines.flatMap((text, at) => (text.startsWith('error') || text.startsWith('warn') ? [fields[at]] : []));
    },
    async send(...events) {
      (await watch.promise).write(events.join(''));
    },
    async relist(next) {
      items = next;
      const standing = await watch.promise;
      watch = Promise.withResolvers();
      standing.end('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n');
      await watch.promise;
    },
    async until(isSo) {
      while (!isSo()) await once(changed, 'change', { signal: t.signal });
    },
  };
  return world;
}

const why = 'it has more bytes than this client accepts';

test('an object that is too large is left out of a list, and the others are there', { timeout: 30_000 }, async (t) => {
  const { informer, errors, requests } = await served(t, 'a#1@3 big#2@4! c#3@5');
  assert.deepEqual(informer.list().map(written), ['a#1@3', 'c#3@5']);
  assert.equal(informer.problem, undefined);
  assert.deepEqual(errors, [{ object: 'ns/big', uid: '2', why }]);
  assert.deepEqual(requests.slice(0, 1), ['list']);
});

test('an event that is too large is passed over: those after it come, on the same watch', { timeout: 30_000 }, async (t) => {
  const world = await served(t, 'a#1@3');
  await world.send(line('ADDED', 'big#2@101!'), line('MODIFIED', 'big#2@102!'), line('MODIFIED', 'a#1@103'));
  await world.until(() => world.told.includes('updated a#1@103'));
  assert.equal(world.informer.version, '103');
  assert.deepEqual(world.requests, ['list', 'watch 100']);
  assert.deepEqual(world.errors, [{ object: 'ns/big', uid: '2', why }], 'said once, however often it changes');
});

test('after an event that is too large the next watch begins behind it', { timeout: 30_000 }, async (t) => {
  const world = await served(t, 'a#1@3');
  await world.send(line('ADDED', 'big#2@101!'), line('MODIFIED', 'a#1@50'));
  await world.relist('a#1@3 big#2@101! b#4@102');
  await world.until(() => world.told.includes('added b#4@102'));
  assert.deepEqual(world.informer.list().map(written), ['a#1@3', 'b#4@102']);
});

test('one that grows too large stays as it was read last, also over a relist, until it is gone', { timeout: 30_000 }, async (t) => {
  const world = await served(t, 'a#1@3 web#2@4');
  await world.send(line('MODIFIED', 'web#2@101!'), line('MODIFIED', 'a#1@102'));
  await world.until(() => world.told.includes('updated a#1@102'));
  await world.relist('web#2@101! a#1@103');
  await world.until(() => world.told.includes('updated a#1@103'));
  assert.deepEqual(world.informer.list().map(written).toSorted(), ['a#1@103', 'web#2@4']);
  await world.send(line('DELETED', 'web#2@104!'));
  await world.until(() => world.told.includes('deleted web#2@104'));
  assert.deepEqual(world.informer.list().map(written), ['a#1@103']);
});

test('one that is succeeded by another that is too large is gone', { timeout: 30_000 }, async (t) => {
  const world = await served(t, 'a#1@3 web#2@4');
  await world.send(line('ADDED', 'web#9@101!'));
  await world.until(() => world.told.includes('deleted web#2@4 unseen'));
  assert.deepEqual(world.informer.list().map(written), ['a#1@3']);
});
