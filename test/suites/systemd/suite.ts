import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { whyNoMachine } from './machine.ts';

/**
 * Tests that boot machines. Where none can be booted they are skipped, with the reason; with CI=true that is a failure.
 * @param concurrency - machines at a time. @default 1
 */
export async function machines(name: string, define: () => void, concurrency = 1): Promise<void> {
  const why = await whyNoMachine();
  if (why === undefined) describe(name, { concurrency }, define);
  else test(name, process.env['CI'] === 'true' ? {} : { skip: why }, () => assert.fail(why));
}
