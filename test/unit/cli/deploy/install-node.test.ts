import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hold } from '../../../../cli/deploy/install-node.ts';
import { realClock } from '../../../../base/clock.ts';
import type { Args } from '../../../../cli/args/args.ts';
import type { Context } from '../../../../cli/command.ts';

test('dkc deploy hold goes on until it is asked to end, and ends with 0', async () => {
  const end = new AbortController();
  const said: string[] = [];
  const context = { clock: realClock, signal: end.signal, stdout: { write: (text: string) => said.push(text) } } as unknown as Context;
  let isOver = false;
  const running = hold.run(context, {} as Args).then((exit) => ((isOver = true), exit));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isOver, false);
  end.abort();
  assert.deepEqual(await running, { code: 0 });
  assert.deepEqual(said, ['this node has the package; nothing is left to do\n']);
});
