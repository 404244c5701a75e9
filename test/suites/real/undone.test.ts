import assert from 'node:assert/strict';
import { test } from 'node:test';
import { killers, neverHealthy } from './inside/configs.ts';
import { onNode } from './machine.ts';
import type { Undone, UndoneResult } from './scenarios/undone.ts';
import { onRealNodes } from './suite.ts';

// Time without health adds up over the lives of a kubelet that dies: the usual deadline leaves a slow machine enough of it for three of them.
const agent = { preflight: false, policy: 'none', trialDuration: '2s' };
/** Condemned at the third death; an agent that is held up sees more, and systemd may be quicker with another. Never this many. */
const MANY = 10;
const fallenBack = { active: 'good', lastKnownGood: 'good', error: 'failed trial, see dkc-agent log for details' };

await onRealNodes('a config that kills a real kubelet, with nobody to look before', () => {
  test('is undone by itself', async (t) => {
    const result = await onNode<UndoneResult>('undone', { agent });
    const told = (undone: Undone): void => {
      const { why, deadMs, condemnedMs, healthyMs, crashes } = undone;
      t.diagnostic(
        `${why}: assigned -> first death ${deadMs === null ? 'none' : `${deadMs} ms`}, -> condemned ${condemnedMs} ms, -> healthy on the config before ${healthyMs} ms (${crashes} deaths)`,
      );
    };
    const died = ({ why, crashes, reason, lastWords }: Undone, words: string): void => {
      const [, told = ''] = /^kubelet exited (\d+) times$/.exec(reason) ?? assert.fail(`${why}: ${reason}`);
      assert.ok(Number(told) >= 3 && crashes >= Number(told) && crashes < MANY, `${why}: ${crashes} crashes, ${reason}`);
      assert.equal(lastWords.length, crashes, why);
      for (const line of lastWords) assert.ok(line.includes(words), `${why}: ${line}`);
    };
    [...result.undone, result.agentKilled, result.kubeadmPace, result.apiGone].forEach(told);

    const everyWhy = [...killers, neverHealthy].map(({ why }) => why);
    assert.deepEqual(result.undone.map(({ why }) => why), everyWhy); // prettier-ignore
    for (const [n, undone] of result.undone.entries()) {
      assert.deepEqual(undone.status, { ...fallenBack, assigned: `killer-${n + 1}` }, undone.why);
      const killer = killers[n];
      if (killer) died(undone, killer.lastWords);
      else {
        assert.equal(undone.crashes, 0);
        // Looked at now and then, so a little late.
        assert.match(undone.reason, /^kubelet was not healthy for 1[0-2] s$/);
      }
    }
    const [{ lastWords }] = killers;
    for (const undone of [result.agentKilled, result.kubeadmPace, result.apiGone]) died(undone, lastWords);
    assert.equal(result.kubeadmPace.status?.active, 'good');

    const { invalid } = result;
    assert.deepEqual(invalid.after, invalid.before, 'boot took the invalid config over');
    assert.equal(invalid.crashes, 0);
    const error = 'failed to validate config, see Kubelet log for details';
    assert.deepEqual(invalid.status, { assigned: 'invalid', active: 'good', lastKnownGood: 'good', error });
  });
});
