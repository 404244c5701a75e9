import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cuttingServerInChild } from '../../unit/kube/client/cutting-server.ts';
import { assertNothingLeaked, reconnect } from '../../unit/kube/client/leaks.ts';

const PARTS = 20;
const CUTS = 50;
/**
 * What a cut connection may leave. The least that could be forgotten by mistake is more: a listener on a signal with what it closes over, or an error
 * with its stack, is from 500 bytes to some kilobytes; a socket with its buffers and TLS session is tens of them. Nothing forgotten measures below 100.
 */
const BYTES_A_CUT = 300;
/** The second half may hold this much more than the first: V8 enlarges a table of its own by 400 KB at a time. */
const MORE_BYTES = 1024 * 1024;

test(
  'a thousand cut connections leave no socket, no timer and no memory behind, and no change is missed',
  { timeout: 600_000 },
  async (t) => {
    await using server = await cuttingServerInChild();
    const result = await reconnect(server, { parts: PARTS, cuts: CUTS });
    const { failures, held } = result;
    const measured = held.map(({ objects }) => objects);
    const [first, second] = [measured.slice(1, 1 + PARTS / 2), measured.slice(1 + PARTS / 2)];
    // What is forgotten at each cut is in every part, a table that grew in one of them.
    const aCut = median(second.map((bytes, at) => bytes - (measured[at + PARTS / 2] ?? 0))) / CUTS;
    const more = median(second) - median(first);
    t.diagnostic(`${failures} watches were cut; each left ${aCut.toFixed(0)} bytes, the second half ${more} more than the first`);
    t.diagnostic(`objects in KB: ${measured.map((bytes) => Math.round(bytes / 1024)).join(' ')}`);
    t.diagnostic(`handles ${JSON.stringify(held[0].resources)} before, ${JSON.stringify(held.at(-1)?.resources)} after`);
    assertNothingLeaked(result);
    assert.ok(aCut < BYTES_A_CUT, `each cut connection left ${aCut.toFixed(0)} bytes`);
    assert.ok(more < MORE_BYTES, `the second half held ${more} bytes more than the first`);
  },
);

/** One measurement among many may have caught something on its way out. */
function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
