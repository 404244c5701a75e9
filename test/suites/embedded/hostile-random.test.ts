import assert from 'node:assert/strict';
import { test } from 'node:test';
import { many } from '../../support/hostile/corpus/hostile.ts';
import { randomHostile } from '../../support/hostile/random.ts';

test('a seed names one object, of a size that a server takes, and seeds name all kinds', () => {
  const kinds = new Set<string>();
  for (const seed of many(40, (at) => at)) {
    const [one, same] = [randomHostile(seed), randomHostile(seed)].map(({ objects }) => JSON.stringify([...objects('embedded')]));
    assert.equal(one, same);
    assert.ok((one?.length ?? 0) < 2_500_000, `SEED=${seed} has ${one?.length} characters`);
    kinds.add(randomHostile(seed).resource.kind);
  }
  assert.ok(kinds.size >= 8, [...kinds].join());
});
