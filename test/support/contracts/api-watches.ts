import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Here } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { Loose, OpenWatch, WatchLine } from '../api-http.ts';

const versionOf = (object: Loose | undefined): number => Number(text(object?.['metadata']?.['resourceVersion']));
const line = (event: WatchLine | undefined): string => `${event?.type} ${text(event?.object['metadata']?.['name'])}`;

const CHANGES = 100;
const BOOKMARK_TRIES = 10;

/** Watches: order, versions, selections, bookmarks, ends. What is broken off and taken up again tells nothing twice and loses nothing. */
export function watchContract(here: Here): void {
  const only = (name: string) => `watch=1&fieldSelector=metadata.name%3D${name}`;

  test('without a version a watch starts with what is there; one that goes is MODIFIED first, and DELETED at the version of that', async () => {
    const { api, configMaps } = here();
    const path = `${configMaps}/watched`;
    await api.post(configMaps, { metadata: { name: 'watched', finalizers: ['example.com/a'] } });
    const watch = await api.watch(`${configMaps}?${only('watched')}`);
    assert.equal(line(await watch.next()), 'ADDED watched');
    await api.delete(path);
    const marked = await watch.next();
    assert.equal(line(marked), 'MODIFIED watched');
    assert.equal(marked?.object['kind'], 'ConfigMap');
    assert.notEqual(marked.object['metadata']?.['deletionTimestamp'], undefined);
    await api.patch(path, { metadata: { finalizers: null } });
    const gone = await watch.next();
    assert.equal(line(gone), 'DELETED watched');
    assert.ok(versionOf(gone?.object) > versionOf(marked.object));
    watch.close();
  });

  test('an object that comes into a selection is ADDED, one that falls out of it DELETED as it was, at the version of the change', async () => {
    const { api, configMaps } = here();
    const { json } = await api.post(configMaps, { metadata: { name: 'moving' } });
    const watch = await api.watch(`${configMaps}?watch=1&labelSelector=in%3Dyes&resourceVersion=${versionOf(json)}`);
    await api.patch(`${configMaps}/moving`, { metadata: { labels: { in: 'yes' } } });
    assert.equal(line(await watch.next()), 'ADDED moving');
    const { json: out } = await api.patch(`${configMaps}/moving`, { metadata: { labels: { in: 'no' } } });
    const event = await watch.next();
    assert.equal(line(event), 'DELETED moving');
    assert.deepEqual([event?.object['metadata']?.['labels'], versionOf(event?.object)], [{ in: 'yes' }, versionOf(out)]);
    watch.close();
  });

  /** Service accounts, so that other tests' objects are not in the way. */
  const accounts = (): string => `/api/v1/namespaces/${here().namespace}/serviceaccounts`;
  const watchFrom = (version: unknown, more = ''): Promise<OpenWatch> =>
    here().api.watch(`${accounts()}?watch=1&labelSelector=resume&resourceVersion=${text(version)}${more}`);
  let start = 0;
  /** `TYPE name` and version of each change, as a watch over all of it told them. */
  let told: { line: string; version: number }[] = [];
  const take = async (watch: OpenWatch, count: number): Promise<typeof told> => {
    const events: typeof told = [];
    while (events.length < count) {
      const event = await watch.next();
      assert.ok(event, `the watch ended after ${events.length} events`);
      events.push({ line: line(event), version: versionOf(event.object) });
    }
    watch.close();
    return events;
  };

  test(`${CHANGES} changes are told in order, each once, and the rest of them to a watch that is taken up again`, async () => {
    const { api } = here();
    start = versionOf((await api.get(accounts())).json);
    const watch = await watchFrom(start);
    const expected: string[] = [];
    const there = new Set<string>();
    for (let n = 0; n < CHANGES; n++) {
      const name = `resume-${(n * n + n) % 7}`;
      const path = `${accounts()}/${name}`;
      if (!there.has(name)) {
        await api.post(accounts(), { metadata: { name, labels: { resume: 'yes' } } });
        expected.push(`ADDED ${name}`);
        there.add(name);
      } else if (n % 5 === 0) {
        await api.delete(path);
        expected.push(`DELETED ${name}`);
        there.delete(name);
      } else {
        await api.patch(path, { metadata: { annotations: { n: `${n}` } } });
        expected.push(`MODIFIED ${name}`);
      }
    }
    told = await take(watch, expected.length);
    assert.deepEqual(told.map((event) => event.line), expected); // prettier-ignore
    for (const [index, { version }] of told.entries()) assert.ok(version > (told[index - 1]?.version ?? start), told[index]?.line);
    for (const done of [0, 25, 90]) {
      const version = told[done - 1]?.version ?? start;
      assert.deepEqual(await take(await watchFrom(version), told.length - done), told.slice(done));
    }
  });

  test('a bookmark comes before the time is over, the watch ends, and its version is one to go on from', async () => {
    const { api, bookmarkSeconds } = here();
    // A real server sends one two seconds before the end: where something keeps it from that just then, it sends none, or an older one.
    const bookmark = async (n: number): Promise<Loose> => {
      assert.ok(n < BOOKMARK_TRIES, 'no watch had a bookmark that is as new as the last change');
      const watch = await watchFrom(told.at(-1)?.version, `&allowWatchBookmarks=true&timeoutSeconds=${bookmarkSeconds}`);
      // A change that the watch does not show; without any the real server has no news to tell.
      const { json } = await api.post(accounts(), { metadata: { name: `not-selected-${n}` } });
      const events = await watch.rest();
      for (const { type } of events) assert.equal(type, 'BOOKMARK');
      const last = events.at(-1)?.object;
      return last !== undefined && versionOf(last) >= versionOf(json) ? last : bookmark(n + 1);
    };
    const last = await bookmark(0);
    await api.post(accounts(), { metadata: { name: 'resume-late', labels: { resume: 'yes' } } });
    assert.equal((await take(await watchFrom(versionOf(last)), 1))[0]?.line, 'ADDED resume-late');
  });
}

/** A server that has forgotten its past. Comes last: it may have been restarted for it. */
export function forgettingContract(here: Here): void {
  test('old versions and continue tokens are 410 Expired, and a new list makes up for it', async () => {
    const { api, configMaps, forget } = here();
    const label = 'labelSelector=forgetting';
    for (const name of ['forget-a', 'forget-b']) await api.post(configMaps, { metadata: { name, labels: { forgetting: 'x' } } });
    const page = await api.get(`${configMaps}?${label}&limit=1`);
    for (const n of ['1', '2', '3']) await api.patch(`${configMaps}/forget-b`, { data: { n } });
    const kept = await api.get(`${configMaps}?${label}`);
    await forget();

    const next = encodeURIComponent(text(page.json['metadata']?.['continue']));
    const version = versionOf(page.json);
    for (const query of [`limit=1&continue=${next}`, `limit=5&resourceVersion=${version}&resourceVersionMatch=Exact`]) {
      const { code, json } = await api.get(`${configMaps}?${label}&${query}`);
      assert.deepEqual([code, json['reason']], [410, 'Expired'], query);
    }
    const watch = await api.watch(`${configMaps}?watch=1&${label}&resourceVersion=${version}`);
    const event = await watch.next();
    const { kind, code, reason, message } = event?.object ?? {};
    assert.deepEqual([watch.code, event?.type, kind, code, reason], [200, 'ERROR', 'Status', 410, 'Expired']);
    assert.match(text(message), /^too old resource version: \d+ \(\d+\)$/);
    assert.equal(await watch.next(), undefined);

    const present = await api.get(`${configMaps}?${label}`);
    assert.deepEqual(present.json['items'], kept.json['items']);
    const onwards = await api.watch(`${configMaps}?watch=1&${label}&resourceVersion=${versionOf(present.json)}`);
    await api.patch(`${configMaps}/forget-b`, { data: { after: '1' } });
    assert.equal(line(await onwards.next()), 'MODIFIED forget-b');
    onwards.close();
  });
}
