import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContractWorld } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { Loose, OpenWatch } from '../api-http.ts';
import { bookmarkOf } from './bookmark.ts';

const CHANGES = 300;
const OBJECTS = 7;

const versionOf = (object: Loose | undefined): number => Number(text(object?.['metadata']?.['resourceVersion']));
const quoted = (value: unknown): string => encodeURIComponent(text(value));

/** Watches over many changes: broken off and taken up again, nothing is told twice, lost or out of order. */
export function resumptionContract(here: () => ContractWorld): void {
  /** Service accounts, so that other tests' objects are not in the way. */
  const accounts = (): string => `/api/v1/namespaces/${here().namespace}/serviceaccounts`;
  const path = (name: string): string => `${accounts()}/${name}`;
  const watchFrom = (version: unknown, more = ''): Promise<OpenWatch> =>
    here().api.watch(`${accounts()}?watch=1&labelSelector=resume&resourceVersion=${quoted(version)}${more}`);
  let start = 0;
  /** `TYPE name version` of each change, as a watch over all of it told them. */
  let told: { line: string; version: number }[] = [];

  const take = async (watch: OpenWatch, count: number): Promise<typeof told> => {
    const events: typeof told = [];
    while (events.length < count) {
      const event = await watch.next();
      assert.ok(event, `the watch ended after ${events.length} events`);
      const version = versionOf(event.object);
      events.push({ line: `${event.type} ${text(event.object['metadata']?.['name'])} ${version}`, version });
    }
    watch.close();
    return events;
  };

  test(`${CHANGES} changes are told in order, each once`, async () => {
    const { api } = here();
    start = versionOf((await api.get(accounts())).json);
    const watch = await watchFrom(start);
    const expected: string[] = [];
    const there = new Set<string>();
    for (let n = 0; n < CHANGES; n++) {
      const name = `resume-${(n * n + n) % OBJECTS}`;
      if (!there.has(name)) {
        const { json } = await api.post(accounts(), { metadata: { name, labels: { resume: 'yes' } } });
        expected.push(`ADDED ${name} ${versionOf(json)}`);
        there.add(name);
      } else if (n % 5 === 0) {
        await api.delete(path(name));
        expected.push(`DELETED ${name}`);
        there.delete(name);
      } else {
        const { json } = await api.patch(path(name), { metadata: { annotations: { n: `${n}` } } });
        expected.push(`MODIFIED ${name} ${versionOf(json)}`);
      }
    }
    told = await take(watch, expected.length);
    assert.deepEqual(
      told.map(({ line }) => (line.startsWith('DELETED') ? line.replace(/ \d+$/, '') : line)),
      expected,
    );
    for (const [index, { version }] of told.entries()) assert.ok(version > (told[index - 1]?.version ?? start), told[index]?.line);
  });

  for (const share of [0, 0.25, 0.5, 0.9]) {
    test(`a watch that is taken up again after ${share * 100} % tells the rest`, async () => {
      const done = Math.floor(told.length * share);
      const version = told[done - 1]?.version ?? start;
      assert.deepEqual(await take(await watchFrom(version), told.length - done), told.slice(done));
    });
  }

  test('the version of a bookmark is one to go on from', async () => {
    const { api, bookmarkSeconds } = here();
    const { bookmark } = await bookmarkOf(async (n) => {
      const watch = await watchFrom(told.at(-1)?.version, `&allowWatchBookmarks=true&timeoutSeconds=${bookmarkSeconds}`);
      const { json } = await api.post(accounts(), { metadata: { name: `not-selected-${n}` } });
      return { watch, change: versionOf(json) };
    });
    await api.post(accounts(), { metadata: { name: 'resume-late', labels: { resume: 'yes' } } });
    const [next] = await take(await watchFrom(versionOf(bookmark)), 1);
    assert.match(next?.line ?? '', /^ADDED resume-late /);
  });

  test('a watch from 0 begins with what is there, as ADDED, and goes on from there', async () => {
    const { api } = here();
    const present = Object.values((await api.get(`${accounts()}?labelSelector=resume`)).json['items'] ?? {});
    const watch = await watchFrom('0');
    const events = [];
    for (const _ of present) events.push(await watch.next());
    await api.patch(path('resume-late'), { metadata: { annotations: { last: '1' } } });
    events.push(await watch.next());
    watch.close();
    const lines = events.map((event) => `${event?.type} ${text(event?.object['metadata']?.['name'])} ${versionOf(event?.object)}`);
    const there = present.map((object) => `ADDED ${text(object['metadata']?.['name'])} ${versionOf(object)}`);
    assert.deepEqual(lines.slice(0, -1).sort(), there.sort());
    assert.match(lines.at(-1) ?? '', /^MODIFIED resume-late /);
  });

  test('what falls out of a field selection is DELETED as it was before, at the version of the change', async () => {
    const { api, namespace } = here();
    const pods = `/api/v1/namespaces/${namespace}/pods`;
    const spec = { schedulerName: 'nobody', containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false };
    const { json } = await api.post(pods, { metadata: { name: 'selected' }, spec });
    const watch = await api.watch(`${pods}?watch=1&fieldSelector=spec.nodeName%3D&resourceVersion=${versionOf(json)}`);
    await api.post(`${pods}/selected/binding`, { metadata: { name: 'selected' }, target: { kind: 'Node', name: 'contract-node' } });
    const bound = (await api.get(`${pods}/selected`)).json;
    const event = await watch.next();
    assert.equal(event?.type, 'DELETED');
    assert.equal(event.object['spec']?.['nodeName'], undefined);
    assert.equal(versionOf(event.object), versionOf(bound));
    watch.close();
    await api.delete(`${pods}/selected`, { gracePeriodSeconds: 0 });
  });
}
