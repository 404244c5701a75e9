import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { format, resolveConfig } from 'prettier';
import { onNode } from '../machine.ts';
import { builtRelease } from '../../../support/real-parts/release.ts';
import { onNodes } from '../suite.ts';
import type { Seen, SideBySideResult } from './scenarios/side-by-side.ts';
import { document } from './side-by-side/document.ts';
import { nodeNames, steps, type Step } from './side-by-side/steps.ts';
import { nativeNode } from './side-by-side/native.ts';

const doc = join(import.meta.dirname, '../../../../docs/side-by-side.md');

await onNodes(
  'our agent side by side with a kubelet that configures itself',
  ['kubelet', 'etcd', 'kube-apiserver'],
  () => {
    test('shows the same transitions, except where it differs on purpose', async (t) => {
      const result = await onNode<SideBySideResult>('../online/scenarios/side-by-side', {
        registered: true,
        agent: { preflight: false, policy: 'none', trialDuration: '10m' },
        files: nativeNode,
      });
      for (const { step, seen } of result.steps)
        t.diagnostic(`${step}: ${nodeNames.map((name) => `${name} ${Math.round(seen[name].ms)} ms`).join(', ')}`);

      for (const { seen } of result.steps) seen.native.states = withoutTransientFailure(seen.native.states);
      assert.deepEqual(result.steps.map(({ step }) => step), steps.map(({ step }) => step)); // prettier-ignore
      for (const [n, step] of steps.entries()) {
        const { native, ours } = result.steps[n]?.seen ?? assert.fail(step.step);
        compare(step, native, ours);
      }

      const [before, after] = [result.trusted.before, result.trusted.after];
      assert.deepEqual([before, after], ['good', 'killer'], 'the native kubelet has learned not to trust what kills it');
      assert.match(result.badKey, /422 .*spec\.configSource\.configMap\.kubeletConfigKey: Invalid value/);
      compareEvents(result.events);

      const text = await format(document(result), { ...(await resolveConfig(doc)), parser: 'markdown' });
      if (process.env['RECORD'] !== undefined) writeFileSync(doc, text);
      else assert.equal(readFileSync(doc, 'utf8'), text, 'docs/side-by-side.md tells another story; RECORD=1 writes it anew');
    });
  },
  { release: builtRelease },
);

/** Not in every run: at its start the native kubelet may say for a moment that it failed, and then takes it back. Ours never does. */
function withoutTransientFailure(states: readonly string[]): string[] {
  return states.filter(
    (state, n) => n === states.length - 1 || !state.endsWith('error=failed to sync: internal failure, see Kubelet log for details'),
  );
}

/** The same states in the same order and as many starts of the kubelet; or a difference that is listed, and then there must be one. */
function compare(step: Step, native: Seen, { states, starts }: Seen): void {
  const listed = step.ours;
  const isSame = JSON.stringify([states, starts]) === JSON.stringify([native.states, native.starts]);
  if (listed === undefined) {
    assert.deepEqual({ states, starts }, { states: native.states, starts: native.starts }, step.step);
    return;
  }
  assert.ok(!isSame, `${step.step}: ours does not differ from the native kubelet, although listed: ${listed.why}`);
  // However it differs, it goes straight to where it ends, by way of what is on trial.
  const end = listed.end ?? step.end;
  const ways = states.filter((state) => state !== end);
  const trial = step.starts.ours === 'dies' ? ['assigned=killer@1 active=killer@1 last-known-good=good@3'] : [];
  assert.deepEqual(ways, trial, step.step);
  const wanted = step.starts.ours;
  if (wanted === 'dies') assert.ok(starts >= 3, `${step.step}: ${starts} starts`);
  else assert.equal(starts, wanted, `${step.step}: starts`);
}

/** An agent tells of each change in the same words; of what it takes over in place it tells nothing. */
function compareEvents({ native, ours }: SideBySideResult['events']): void {
  const inPlace = /configmaps\/good, good@3|configmaps\/late, late@2/;
  const wanted = native.filter((message) => !inPlace.test(message));
  // The native one never got to clear the killer.
  assert.deepEqual(ours, [...wanted, 'Normal: Kubelet restarting to use local config']);
}
