import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replicate } from './replicator.ts';

for (let seed = 1; seed <= 6; seed++)
  test(`a controller on a server that fails, with restarts, ends where it should (seed ${seed})`, async () => {
    assert.deepEqual(await replicate(seed, 25), []);
  });
