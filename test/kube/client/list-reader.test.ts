import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listReader } from '../../../kube/client/list-reader.ts';

test('what reads lists is loaded once: later lists take no turn of the loop for it', async () => {
  const first = listReader();
  assert.equal(listReader(), first);
  await first;
  let turned = false;
  setImmediate(() => (turned = true));
  await listReader();
  assert.equal(turned, false);
});
