import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock, Millis } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import { watchObjects } from '../../../apiserver/handlers/watch.ts';
import type { Context } from '../../../apiserver/handlers/context.ts';
import type { ApiRequest, ResourceRequest } from '../../../apiserver/http/api-request.ts';
import { builtInKinds, Registry } from '../../../apiserver/kinds/registry.ts';
import { Storage } from '../../../apiserver/storage/storage.ts';

/** Time that jumps to the end of whatever is waited for. */
function jumpingClock(): Clock {
  let at: Millis = 0;
  return {
    now: () => at,
    monotonic: () => at,
    sleep: async (ms) => {
      at += ms;
    },
    after: () => () => {},
  };
}

async function watched(query: string): Promise<string[]> {
  const clock = jumpingClock();
  const registry = new Registry(builtInKinds);
  const served = registry.find('', 'v1', 'nodes');
  assert.ok(served);
  const context: Context = {
    storage: new Storage(10),
    registry,
    clock,
    random: seededRandom(1),
    dynamicKubeletConfig: true,
    bookmarkMs: 60_000,
  };
  const request: ResourceRequest = { verb: 'watch', group: '', version: 'v1', resource: 'nodes', namespace: '', name: '', subresource: '' };
  const from: ApiRequest = {
    method: 'GET',
    path: '',
    query: new URLSearchParams(query),
    header: () => '',
    user: { name: '', groups: [] },
    signal: new AbortController().signal,
  };
  const seen: string[] = [];
  for await (const batch of watchObjects(context, served, request, from))
    seen.push(...batch.map(({ type }) => `${type} ${clock.monotonic() / 1000}`));
  seen.push(`end ${Math.round(clock.monotonic() / 1000)}`);
  return seen;
}

test('bookmarks come every minute and once more just before the end', async () => {
  assert.deepEqual(await watched('allowWatchBookmarks=true&timeoutSeconds=150'), [
    'BOOKMARK 60',
    'BOOKMARK 120',
    'BOOKMARK 149',
    'end 150',
  ]);
});

test('a watch of a second has its bookmark half way', async () => {
  assert.deepEqual(await watched('allowWatchBookmarks=true&timeoutSeconds=1'), ['BOOKMARK 0.5', 'end 1']);
});

test('nobody gets bookmarks unasked', async () => {
  assert.deepEqual(await watched('timeoutSeconds=600'), ['end 600']);
});

test('without a limit a watch ends between half an hour and an hour', async () => {
  const [end = ''] = await watched('');
  const seconds = Number(end.slice('end '.length));
  assert.ok(seconds >= 1800 && seconds <= 3600, end);
});
