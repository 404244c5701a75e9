import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryWaitMs } from '../../../../kube/client/requests.ts';

const refusal = { method: 'GET', status: 429, retryAfterMs: 1_000, tries: 1, leftMs: 30_000 };
const cases: { why: string; given: object; random?: number; wait: number | undefined }[] = [
  { why: 'a refused read waits as asked', given: {}, wait: 1_000 },
  { why: 'and a little longer, each another bit', given: {}, random: 0.5, wait: 1_500 },
  { why: 'a refused write too: it was not executed', given: { method: 'POST' }, wait: 1_000 },
  { why: 'a server that asks to come back at once gets a little time', given: { retryAfterMs: 0 }, random: 0.5, wait: 50 },
  { why: 'ten seconds are the longest wait', given: { retryAfterMs: 10_000 }, wait: 10_000 },
  { why: 'a longer one is not cut short but left to the caller', given: { retryAfterMs: 10_001 }, wait: undefined },
  { why: 'no time named, no wait', given: { retryAfterMs: undefined }, wait: undefined },
  { why: '503 is waited for where repeating is harmless', given: { status: 503 }, wait: 1_000 },
  { why: '503 to a write may come from beyond it', given: { status: 503, method: 'PATCH' }, wait: undefined },
  { why: 'other failures are answers', given: { status: 500 }, wait: undefined },
  { why: 'success is success', given: { status: 200 }, wait: undefined },
  { why: 'three repetitions', given: { tries: 3 }, wait: 1_000 },
  { why: 'no fourth', given: { tries: 4 }, wait: undefined },
  { why: 'not beyond the deadline', given: { leftMs: 1_000 }, wait: undefined },
  { why: 'not beyond it by jitter either', given: { leftMs: 1_200 }, random: 0.5, wait: undefined },
];
for (const { why, given, random = 0, wait } of cases) {
  test(`Retry-After: ${why}`, () =>
    assert.equal(
      retryWaitMs({ ...refusal, ...given }, () => random),
      wait,
    ));
}
