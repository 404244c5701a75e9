import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide, type PageRequest } from '../../../../controllers/page/request.ts';

const assets = new Set(['index.html', 'page.js']);
const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const local = { method: 'GET', host: '127.0.0.1:10463', authorization: undefined, site: undefined };

const cases: { why: string; asked: Partial<PageRequest>; token?: string; gets: string }[] = [
  { why: 'the page on loopback', asked: { url: '/' }, gets: 'asset index.html' },
  { why: 'a forwarded port', asked: { url: '/', host: 'localhost:9999' }, gets: 'asset index.html' },
  { why: 'a name that was rebound to 127.0.0.1', asked: { url: '/fleet.json', host: 'evil.example:10463' }, gets: '403' },
  { why: 'a name that begins like an address', asked: { url: '/fleet.json', host: '127.0.0.1.evil.example' }, gets: '403' },
  { why: 'no Host at all', asked: { url: '/fleet.json', host: undefined }, gets: '403' },
  { why: 'data that another site asks for', asked: { url: '/fleet/events', site: 'cross-site' }, gets: '403' },
  { why: 'data that the page asks for', asked: { url: '/fleet/events', site: 'same-origin' }, gets: 'events' },
  { why: 'a link to the page on another site', asked: { url: '/', site: 'cross-site' }, gets: 'asset index.html' },
  { why: 'a node', asked: { url: '/fleet/nodes/node-1.example.json' }, gets: 'node node-1.example' },
  { why: 'a path that leaves the folder', asked: { url: '/../page.js' }, gets: '404' },
  { why: 'a node name that is none', asked: { url: '/fleet/nodes/..%2f..json' }, gets: '404' },
  { why: 'a path without end', asked: { url: `/${'a'.repeat(2_000)}` }, gets: '400' },
  { why: 'a write', asked: { url: '/fleet.json', method: 'POST' }, gets: '405' },
  { why: 'a token that is missing', asked: { url: '/' }, token: 't0ken', gets: '401' },
  { why: 'a wrong token', asked: { url: '/', authorization: 'Bearer other' }, token: 't0ken', gets: '401' },
  { why: 'the token as a user name', asked: { url: '/', authorization: basic('t0ken:') }, token: 't0ken', gets: '401' },
  { why: 'the token as a password, from elsewhere', asked: { url: '/', host: 'fleet.example.com', authorization: basic('me:t0ken') }, token: 't0ken', gets: 'asset index.html' }, // prettier-ignore
  { why: 'a bearer token', asked: { url: '/fleet.json', authorization: 'bearer t0ken' }, token: 't0ken', gets: 'fleet' },
];

for (const { why, asked, token, gets } of cases)
  test(`the page answers ${why}`, () => {
    const decision = decide({ ...local, url: '/', ...asked }, { token, assets });
    const { route } = decision.ok ? decision : {};
    const got = decision.ok ? `${route?.to}${route !== undefined && 'name' in route ? ` ${route.name}` : ''}` : String(decision.status);
    assert.equal(got, gets);
    if (!decision.ok) assert.doesNotMatch(decision.text, /t0ken/);
  });
