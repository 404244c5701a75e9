import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../support/eventually.ts';
import { servePage } from '../../../support/page/serve-page.ts';

test('every answer forbids what the page does not need, files and refusals alike', async () => {
  await using served = await servePage(10);
  for (const path of ['/', '/page.js', '/page.css', '/fleet.json', '/fleet/nodes/node-0001.json', '/fleet/nodes/other.json', '/nothing']) {
    const answer = await fetch(`${served.url}${path}`, { headers: { connection: 'close' } });
    const text = await answer.text();
    if (path === '/')
      assert.doesNotMatch(text, /<style|style=|\son\w+=|<script(?![^>]*\ssrc=)|https?:\/\//, 'nothing inline or from elsewhere');
    const { headers } = answer;
    assert.equal(answer.status, /other|nothing/.test(path) ? 404 : 200, path);
    assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'; .*frame-ancestors 'none'/, path);
    assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe|https?:|\*/, path);
    assert.deepEqual([headers.get('x-content-type-options'), headers.get('referrer-policy')], ['nosniff', 'no-referrer'], path);
    assert.equal(headers.get('access-control-allow-origin'), null, path);
  }
});

test('all of a large fleet is served; a stream begins with the picture and goes on with changes', async () => {
  await using served = await servePage(1_200);
  const { nodes } = (await (await fetch(`${served.url}/fleet.json`)).json()) as { nodes: unknown[] };
  assert.equal(nodes.length, 1_200);
  const streams: AbortController[] = [];
  const open = async (): Promise<Response> => {
    const ending = new AbortController();
    streams.push(ending);
    return fetch(`${served.url}/fleet/events`, { signal: ending.signal });
  };
  const first = await open();
  assert.deepEqual([first.headers.get('content-type'), first.headers.get('content-encoding')], ['text/event-stream', 'gzip']);
  let text = '';
  const reading = (async () => {
    for await (const chunk of first.body ?? []) text += Buffer.from(chunk as Uint8Array).toString();
  })().catch(() => {});
  await eventually('the picture arrives', () => text.includes('event: picture\n') && text.endsWith('\n\n'));
  served.fleet.setReady('node-0007', false);
  await eventually('the change arrives', () => /event: changes\ndata: .*"node-0007"/.test(text));
  for (const ending of streams) ending.abort();
  await reading;
  await eventually('their places are free', () => served.fleet.stream.size === 0);
});

test('without the token nothing is served', async () => {
  await using served = await servePage(3, 'letmein');
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${served.url}/fleet.json`, { headers: { connection: 'close', ...headers } })).status;
  assert.deepEqual([await ask({}), await ask({ authorization: 'Bearer letmein' })], [401, 200]);
});
