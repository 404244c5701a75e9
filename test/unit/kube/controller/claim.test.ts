import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSets as sets, type KubeObject, type ObjectMeta, pods } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError } from '../../../../kube/client/errors.ts';
import { claim, type Claim, type Claimer, claimOf, planClaim } from '../../../../kube/controller/claim.ts';
import {
  adoptPatch,
  controllerOf,
  controllerRef,
  haveSameController,
  isControlledBy,
  releasePatch,
  matchingOwners,
} from '../../../../kube/controller/owners.ts';
import type { LabelSelectorObject } from '../../../../kube/api/selector.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const DELETED = '2026-03-01T00:00:00Z';

const set = (more: Partial<ObjectMeta> = {}): KubeObject => ({ metadata: { namespace: 'ns', name: 'ds', uid: 'ds-uid', ...more } });
const pod = (name: string, owner?: string, more: Partial<ObjectMeta> = {}): KubeObject => ({
  metadata: {
    namespace: 'ns',
    name,
    uid: `${name}-uid`,
    ...(owner === undefined ? {} : { ownerReferences: [{ ...controllerRef(set(), sets), uid: owner }] }),
    ...more,
  },
});

test('claims are as the table has them', () => {
  const mark = (deleting: boolean) => (deleting ? { deletionTimestamp: DELETED } : {});
  for (const selected of [true, false])
    for (const setDeleting of [true, false])
      for (const podDeleting of [true, false]) {
        const owners: [string | undefined, Claim][] = [
          ['another', 'ignore'],
          ['ds-uid', selected ? 'keep' : setDeleting ? 'ignore' : 'release'],
          [undefined, selected && !setDeleting && !podDeleting ? 'adopt' : 'ignore'],
        ];
        for (const [owner, expected] of owners) {
          const claimed = claimOf(set(mark(setDeleting)), pod('p', owner, mark(podDeleting)), selected);
          assert.equal(claimed, expected, JSON.stringify({ owner, selected, setDeleting, podDeleting }));
        }
      }
});

test('an orphan of another namespace is not adopted, and an owner that does not control is none', () => {
  assert.equal(claimOf(set(), pod('p', undefined, { namespace: 'elsewhere' }), true), 'ignore');
  const owned = pod('p', 'ds-uid');
  const plain = pod('p', undefined, { ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }] });
  assert.equal(controllerOf(plain), undefined);
  assert.deepEqual([set(), set({ uid: 'newer' })].map((owner) => isControlledBy(owned, owner)), [true, false]); // prettier-ignore
  assert.equal(isControlledBy(plain, { metadata: {} }), false);
  assert.deepEqual([haveSameController(plain, pod('q')), haveSameController(owned, plain)], [true, false]);
});

test('patches are, byte for byte, those of the field', () => {
  assert.equal(
    JSON.stringify(adoptPatch(pod('p'), controllerRef(set(), sets))),
    '{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"DaemonSet","name":"ds","uid":"ds-uid","controller":true,"blockOwnerDeletion":true}],"uid":"p-uid"}}',
  );
  assert.equal(
    JSON.stringify(releasePatch(pod('p'), 'ds-uid')),
    '{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"ds-uid"}],"uid":"p-uid"}}',
  );
  assert.throws(() => controllerRef({ metadata: { name: 'ds' } }, sets), /without uid/);
  assert.throws(() => adoptPatch({ metadata: { uid: 'u' } }, controllerRef(set(), sets)), /without name/);
});

function apiError(code: number): ApiError {
  return new ApiError({ method: 'PATCH', path: '/x', host: 'h' }, { code, reason: code === 404 ? 'NotFound' : 'Other', message: 'no' });
}

/** A server that says what it is told to; keeps what it was asked. */
class Server {
  readonly asked: string[] = [];
  readonly wrote: string[] = [];
  live: () => KubeObject = () => set();
  answers: Record<string, number> = {};
  most = 0;
  #under = 0;

  claimer(owner = set()): Claimer {
    const client = {
      get: (_: unknown, { name }: { name: string }) => {
        this.asked.push(`get ${name}`);
        return new Promise((resolve) => resolve(this.live()));
      },
      patch: async (_: unknown, { name }: { name: string }, patch: unknown, { type }: { type: string }) => {
        this.most = Math.max(this.most, (this.#under += 1));
        await new Promise((resolve) => setImmediate(resolve));
        this.#under -= 1;
        this.asked.push(`${JSON.stringify(patch).includes('$patch') ? 'release' : 'adopt'} ${name} ${type}`);
        const code = this.answers[name];
        if (code !== undefined) throw apiError(code);
        return pod(name, 'ds-uid', { resourceVersion: 'new' });
      },
    } as unknown as Pick<Client, 'get' | 'patch'>;
    return { client, owner, ownerKind: sets, kind: pods, wrote: ({ metadata: { name = '' } }) => void this.wrote.push(name) };
  }

  async claim(candidates: KubeObject[], selects: (object: KubeObject) => boolean = () => true): Promise<string[]> {
    const owner = set();
    const claimed = await claim(this.claimer(owner), planClaim(owner, candidates, selects), new AbortController().signal);
    return claimed.map(({ metadata: { name = '', resourceVersion = 'cached' } }) => `${name}@${resourceVersion}`);
  }
}

test('a pass keeps, releases, and adopts after one look at the live owner', async () => {
  const server = new Server();
  const claimed = await server.claim(
    [pod('kept', 'ds-uid'), pod('theirs', 'other'), pod('loose', 'ds-uid'), pod('a'), pod('b')],
    ({ metadata: { name } }) => name !== 'loose',
  );
  assert.deepEqual(claimed, ['kept@cached', 'a@new', 'b@new']);
  assert.deepEqual(server.asked, ['release loose strategic', 'get ds', 'adopt a strategic', 'adopt b strategic']);
  assert.deepEqual(server.wrote, ['loose', 'a', 'b']);
});

const gone = (): never => {
  throw apiError(404);
};
const refusals: [why: string, live: () => KubeObject, said: string][] = [
  ['another one by now', () => set({ uid: 'newer' }), 'original DaemonSet ns/ds is gone: got uid newer, wanted ds-uid'],
  ['being deleted', () => set({ deletionTimestamp: DELETED }), `ns/ds has just been deleted at ${DELETED}`],
  ['gone', gone, "can't recheck DeletionTimestamp: Cannot PATCH /x at h: 404 NotFound: no"],
];
for (const [why, live, said] of refusals)
  test(`nothing is adopted, and the pass fails, when the owner is ${why}`, async () => {
    const server = new Server();
    server.live = live;
    await assert.rejects(server.claim([pod('a')]), { message: `can't adopt Pod ns/a (a-uid): ${said}` });
    assert.deepEqual(server.asked, ['get ds']);
  });

for (const [doing, code, claimed] of [
  ['adopt', 404, ['kept@cached']],
  ['adopt', 422, undefined],
  ['release', 404, ['kept@cached']],
  ['release', 422, ['kept@cached']],
  ['release', 500, undefined],
] as const)
  test(`${code} to ${doing} ${claimed === undefined ? 'fails the pass' : 'means that it is not ours'}`, async () => {
    const server = new Server();
    server.answers = { x: code };
    const x = doing === 'adopt' ? pod('x') : pod('x', 'ds-uid');
    const result = server.claim([pod('kept', 'ds-uid'), x], ({ metadata: { name } }) => doing === 'adopt' || name !== 'x');
    if (claimed === undefined) await assert.rejects(result, (error) => error instanceof ApiError && error.code === code);
    else assert.deepEqual(await result, claimed);
  });

test('one failure keeps nothing else from being done, not everything is done at once, and the message of many is short', async () => {
  const server = new Server();
  server.answers = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`p${at}`, 500]));
  const many = Array.from({ length: 100 }, (_, at) => pod(`p${at}`));
  await assert.rejects(server.claim(many), (error) => error instanceof AggregateError && error.message.endsWith('] and 35 more'));
  assert.equal(server.wrote.length, 60);
  assert.deepEqual(server.asked.filter((asked) => asked.startsWith('get')), ['get ds']); // prettier-ignore
  assert.ok(server.most > 1 && server.most <= 16, `${server.most} at once`);
});

type Owner = KubeObject & { selector?: LabelSelectorObject | null };

const app = (name: string) => ({ matchLabels: { app: name } });
const expression = (operator: string, values?: string[]) => ({
  matchExpressions: [{ key: 'app', operator, ...(values === undefined ? {} : { values }) }],
});

// prettier-ignore
const cases: [why: string, labels: Record<string, string> | undefined, owners: Record<string, unknown>, keys: string[], says?: RegExp[]][] = [
  ['the owner whose selector matches', { app: 'web' }, { 'x/a': app('web'), 'x/b': app('db') }, ['x/a']],
  ['nobody in another namespace', { app: 'web' }, { 'y/a': app('web'), a: app('web') }, []],
  ['nobody for no labels', undefined, { 'x/a': expression('DoesNotExist') }, []],
  ['no owner with an empty selector', { app: 'web' }, { 'x/a': {}, 'x/b': { matchLabels: {} } }, []],
  ['no owner without a selector', { app: 'web' }, { 'x/a': undefined, 'x/b': null }, []],
  ['owners by expression', { app: 'web' }, { 'x/a': expression('In', ['db', 'web']) }, ['x/a']],
  ['the others where one selector is invalid', { app: 'web' }, { 'x/a': expression('Like'), 'x/b': app('web') }, ['x/b'], [/^warn: invalid selector/]],
  ['all of several, and says so', { app: 'web' }, { 'x/a': app('web'), 'x/b': expression('Exists') }, ['x/a', 'x/b'], [/^error: several owners/]],
];

function storeOf(owners: Record<string, unknown>): IndexedStore<Owner> {
  const store = new IndexedStore<Owner>();
  for (const [key, selector] of Object.entries(owners)) {
    const [name = '', namespace] = key.split('/').toReversed();
    const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
    store.put({ metadata, ...(selector === undefined ? {} : { selector }) });
  }
  return store;
}

for (const [why, labels, owners, keys, says = []] of cases)
  test(`matching names ${why}`, () => {
    const { log, lines } = recordedLog();
    const matching = matchingOwners<Owner>(({ selector }) => selector, log);
    const orphan: KubeObject = { metadata: { name: 'o', namespace: 'x', ...(labels === undefined ? {} : { labels }) } };
    assert.deepEqual(matching(orphan, storeOf(owners)), keys);
    assert.equal(lines.length, says.length);
    for (const [at, text] of says.entries()) assert.match(lines[at] ?? '', text);
  });
