import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type KubeObject, pods } from '../../../../kube/api/object.ts';
import { objectKey } from '../../../../kube/cache/contract.ts';
import { pruner, unite } from '../../../../kube/cache/fields.ts';
import { deepFreeze, StringPool, StructuralSharing } from '../../../../kube/cache/sharing.ts';
import { IndexedStore } from '../../../../kube/cache/indexed-store.ts';

const byColour = ({ metadata }: KubeObject) => Object.values(metadata.labels ?? {});

describe('the store', () => {
  test('finds by index what a search finds, after any changes', () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd');
    const step = fc.record({
      name,
      namespace: fc.constantFrom('x', 'y', undefined),
      asked: fc.constantFrom('x', 'y', 'z', undefined),
      colours: fc.array(fc.constantFrom('red', 'blue')),
      gone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const store = new IndexedStore<KubeObject>();
        const sorted = (found: readonly KubeObject[]) => found.map(objectKey).toSorted();
        store.index('colour', byColour);
        const model = new Map<string, KubeObject>();
        for (const { colours, gone, asked, name, namespace } of steps) {
          const labels = Object.fromEntries(colours.map((colour, n) => [`l${n}`, colour]));
          const object = { metadata: { name, labels, ...(namespace === undefined ? {} : { namespace }) } };
          const key = objectKey(object);
          if (gone) model.delete(key);
          else model.set(key, object);
          if (gone) store.delete(key);
          else store.put(object);
          // The first question about a namespace may come at any time.
          const expected = [...model.keys()].filter((key) => asked === undefined || key.startsWith(`${asked}/`));
          assert.deepEqual(sorted(store.list(asked)), expected.toSorted());
        }
        for (const colour of ['red', 'blue', 'green']) {
          const expected = [...model.values()].filter((object) => byColour(object).includes(colour));
          assert.deepEqual(sorted(store.indexed('colour', colour)), sorted(expected));
        }
      }),
    );
  });

  test('an index that comes late knows what is there; one that means something else is refused', () => {
    const store = new IndexedStore<KubeObject>();
    store.put({ metadata: { name: 'a', labels: { c: 'red' } } });
    store.index('colour', byColour);
    store.index('colour', byColour);
    assert.equal(store.indexed('colour', 'red').length, 1);
    assert.throws(() => store.index('colour', () => []), /there is already an index colour/);
    assert.throws(() => store.indexed('size', '1'), /there is no index size; there are colour/);
  });
});

test('an index whose function throws for an object does not know it, says so once for each state, and others find it', () => {
  const failures: string[] = [];
  const store = new IndexedStore<KubeObject>((index, error, key) => failures.push(`${index} ${key}: ${String(error)}`));
  const coloured = (name: string, colour: string): KubeObject => ({ metadata: { name, labels: { colour } } });
  store.put(coloured('early', 'bad'));
  store.index('colour', ({ metadata }) => {
    if (metadata.labels?.['colour'] === 'bad') throw new Error('no colour');
    return [metadata.labels?.['colour'] ?? ''];
  });
  store.index('name', ({ metadata }) => [metadata.name ?? '']);
  const found = () => [store.indexed('colour', 'red').map(objectKey), store.indexed('name', 'a').map(objectKey)];
  for (const colour of ['red', 'bad', 'red', 'bad']) {
    store.put(coloured('a', colour));
    assert.deepEqual(found(), [colour === 'red' ? ['a'] : [], ['a']]);
  }
  store.delete('a');
  assert.deepEqual(found(), [[], []]);
  assert.deepEqual(failures, ['colour early: Error: no colour', 'colour a: Error: no colour', 'colour a: Error: no colour']);
});

describe('fields', () => {
  const identity = { name: 'web', namespace: 'ns', uid: '1', resourceVersion: '5', labels: { app: 'web' } };
  const pod: KubeObject = {
    metadata: { ...identity, annotations: { a: 'b' }, managedFields: [{}] },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' } } }, { name: 'd' }] },
    status: { phase: 'Running', conditions: null },
  };
  const kept = (fields: 'all' | string[]) => pruner(pods, fields, new StringPool())(pod);

  test('only what is wanted stays, lists are walked through', () => {
    assert.deepEqual(kept(['spec.containers.resources', 'spec.containers.name', 'status.conditions.type']), {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: identity,
      spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }, { name: 'd' }] },
      status: { conditions: null },
    });
  });

  test('all is everything but managedFields; who takes the whole has the parts; a path with a hole is refused', () => {
    const { managedFields: _, ...metadata } = pod.metadata;
    assert.deepEqual(kept('all'), { apiVersion: 'v1', kind: 'Pod', ...pod, metadata });
    assert.deepEqual(kept(['spec.containers.name', 'spec'])['spec'], pod['spec']);
    assert.deepEqual([unite([['spec'], 'all']), unite([['b', 'a'], ['a']])], ['all', ['a', 'b']]);
    assert.throws(() => kept(['spec..x']), /empty part/);
  });

  test('a field called __proto__ is a field', () => {
    const hostile = JSON.parse('{"metadata":{"name":"x","labels":{"__proto__":{"a":"b"}}},"__proto__":{"polluted":true}}') as KubeObject;
    const result = pruner(pods, 'all', new StringPool())(hostile);
    assert.equal(Object.getPrototypeOf(result), Object.prototype);
    assert.ok(Object.hasOwn(result.metadata.labels ?? {}, '__proto__'));
    assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });
});

test('the pool holds two generations at most, and no long strings', () => {
  const pool = new StringPool(100);
  for (let n = 0; n < 10_000; n++) pool.one(`string ${n}`);
  const { size } = pool;
  assert.ok(size <= 200, `${size} strings`);
  assert.deepEqual([pool.one('x'.repeat(129)).length, pool.size], [129, size]);
});

test('of half a million values only the first thousands are looked at', () => {
  let looked = 0;
  const get = (of: unknown[], key: string | symbol): unknown => (
    typeof key === 'string' && /^\d+$/.test(key) && looked++,
    Reflect.get(of, key)
  );
  const many = (): unknown[] =>
    new Proxy(
      Array.from({ length: 500_000 }, () => ({})),
      { get },
    );
  const [read, siblings] = [pruner(pods, 'all', new StringPool()), new StructuralSharing()];
  const kept = siblings.share(read({ metadata: { name: 'a' }, data: many() }), undefined);
  siblings.share(read({ metadata: { name: 'a' }, data: many() }), kept);
  assert.ok(looked < 200_000, `looked at ${looked}`);
});

/** JSON of a few words, so that parts are often alike. */
const json = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(null, true, 1, 2, 'a', 'b', ''), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'length'), tie('value'), { maxKeys: 4 }),
})).value;

const pod = (name: string, owner: string, spec: unknown): KubeObject => ({
  metadata: { name, ownerReferences: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: owner }] },
  spec: structuredClone(spec),
});

describe('what is alike is kept once', () => {
  test('what is kept says what came, word for word and in its order, and nothing that was kept before changes', () => {
    fc.assert(
      fc.property(fc.array(json, { minLength: 2, maxLength: 6 }), (specs) => {
        const siblings = new StructuralSharing();
        const kept = specs.map((spec, n) => deepFreeze(siblings.share(pod(`p${n}`, 'u', spec), undefined)));
        assert.deepEqual(
          kept.map((object) => JSON.stringify(object['spec'])),
          specs.map((spec) => JSON.stringify(spec)),
        );
      }),
    );
  });

  test('of the state before, else of siblings: the parts that are the same, even in a list where others differ', () => {
    const siblings = new StructuralSharing();
    const spec = (of: KubeObject) => of['spec'] as { x: unknown; y: unknown };
    const before = siblings.share(pod('a', 'u', { x: [1], y: 1 }), undefined);
    const sibling = siblings.share(pod('b', 'u', { x: [1], y: 2 }), undefined);
    assert.equal(spec(sibling).x, spec(before).x);
    assert.equal(sibling.metadata.ownerReferences, before.metadata.ownerReferences);
    assert.deepEqual([spec(before).y, spec(sibling).y], [1, 2]);
    siblings.share(pod('c', 'u', { x: [2] }), undefined);
    const after = siblings.share(pod('a', 'u', { x: [1], y: 3 }), before);
    assert.equal(spec(after).x, spec(before).x);
  });

  test('the memory for owners is bounded', () => {
    const siblings = new StructuralSharing();
    for (let n = 0; n < 20_000; n++) siblings.share(pod('a', `u${n}`, {}), undefined);
    assert.ok(siblings.size <= 10_000, `${siblings.size}`);
  });
});
