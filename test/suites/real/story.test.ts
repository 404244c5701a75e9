import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { onNode } from './machine.ts';
import type { StoryResult } from './scenarios/story.ts';
import { onRealNodes } from './suite.ts';

const settings = ['vm/overcommit_memory', 'vm/panic_on_oom', 'kernel/panic', 'kernel/panic_on_oops', 'kernel/keys/root_maxkeys'];
const kernel = (): string[] => settings.map((name) => readFileSync(`/proc/sys/${name}`, 'utf8'));

await onRealNodes('a real kubelet', () => {
  test('takes over what is assigned, and the agent comes and goes without it', async (t) => {
    const before = kernel();
    const { good, untouched, view, rollback, retry, drill, unassign } = await onNode<StoryResult>('story', {
      agent: { trialDuration: '5s', merge: 'overlay' },
    });
    t.diagnostic(`good: assigned -> healthy with it ${good.effectiveMs} ms, -> trusted ${good.promotedMs} ms (5000 of them the trial)`);
    t.diagnostic(`rolled back -> healthy with the one before ${rollback.ms} ms; tried again ${retry.ms} ms; unassigned ${unassign.ms} ms`);
    for (const { step, ms } of drill.steps) t.diagnostic(`drill --live: ${step} ${ms} ms`);

    assert.deepEqual(good.status, { assigned: 'good', active: 'good', lastKnownGood: 'good', error: null });
    assert.ok(
      good.trustedAfterMs >= 5000,
      `the trial was shorter than said: trusted ${good.trustedAfterMs} ms after the kubelet was started`,
    );
    assert.equal(good.starts, 2);
    assert.deepEqual(good.evictionHard, good.localEvictionHard, 'the overlay lost what the local config says');
    assert.deepEqual(untouched, { 'killed with -9': true, stopped: true, 'started again': true });
    assert.deepEqual([view.active?.name, view.lastKnownGood?.name, view.error], ['better', 'better', null]);

    const rolledBack = { assigned: 'better', active: 'good', lastKnownGood: 'good' };
    assert.deepEqual(rollback.status, { ...rolledBack, error: 'rolled back by admin, see dkc-agent log for details' });
    assert.deepEqual(retry.status, { assigned: 'better', active: 'better', lastKnownGood: 'better', error: null });
    assert.equal(drill.code, 0, drill.stderr);
    assert.equal(drill.steps.length, 4);
    assert.ok(drill.steps.every(({ passed }) => passed));
    assert.equal(drill.starts, 2);
    assert.deepEqual(unassign.status, { assigned: null, active: null, lastKnownGood: null, error: null });
    assert.deepEqual(kernel(), before, 'the kubelet got at the settings of this machine');
  });
});
