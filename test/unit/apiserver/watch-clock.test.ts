import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '../../support/fake-clock.ts';
import { localApi } from '../../support/embedded-api.ts';

/** What a watch hears and after how many seconds, to its end. */
async function watched(query: string): Promise<string[]> {
  const clock = new FakeClock();
  const api = localApi(clock, { bookmarkMs: 60_000 });
  const from = clock.monotonic();
  const heard: string[] = [];
  const hear = (what: string) => heard.push(`${what} ${Math.round((clock.monotonic() - from) / 100) / 10}`);
  const connection = await api.dial();
  const listen = async (): Promise<void> => {
    const headers = { authorization: `Bearer ${api.token}` };
    const path = `/api/v1/nodes?watch=true&${query}`;
    const answer = await connection.send({ method: 'GET', path, headers, signal: new AbortController().signal });
    for await (const part of answer.body) hear(JSON.parse(Buffer.from(part).toString()).type);
    hear('end');
  };
  const listening = listen();
  await clock.advance(3_700_000);
  await listening;
  api.stop();
  return heard;
}

for (const { why, query, heard } of [
  {
    why: 'come every minute and once more just before the end',
    query: 'allowWatchBookmarks=true&timeoutSeconds=150',
    heard: ['BOOKMARK 60', 'BOOKMARK 120', 'BOOKMARK 149', 'end 150'],
  },
  { why: 'come half way in a watch of a second', query: 'allowWatchBookmarks=true&timeoutSeconds=1', heard: ['BOOKMARK 0.5', 'end 1'] },
  { why: 'do not come unasked', query: 'timeoutSeconds=600', heard: ['end 600'] },
])
  test(`bookmarks ${why}`, async () => assert.deepEqual(await watched(query), heard));

test('without a limit a watch ends between half an hour and an hour', async () => {
  const [end = ''] = await watched('');
  const seconds = Number(end.slice('end '.length));
  assert.ok(seconds >= 1800 && seconds <= 3600, end);
});
