import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AgentName } from './inside/agent.ts';
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

/** `from`, `from + 1`, ... up to `to`. */
export const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The value that `share` of all values do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

/** Every scenario about the agent runs with each of these. */
export const agents: readonly AgentName[] = ['stand-in', 'bundle'];
