import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { deepFreeze, StructuralSharing } from '../../../../kube/cache/sharing.ts';

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
