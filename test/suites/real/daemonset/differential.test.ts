import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { withRealParts } from '../suite.ts';
import { differences } from './differences.ts';
import { differing } from '../../../support/stories/daemonset/dump.ts';
import { playAll } from './play.ts';
import { stories } from '../../../support/stories/daemonset/all.ts';
import { worldParts } from '../cluster/real-world.ts';

/*
 * Every story is played to two DaemonSet controllers, each on a real control plane of its own: kube-controller-manager's and ours, as processes. What is left at
 * the end (sets with their status, pods, revisions, events) must be equal, but for what differences.ts names.
 */
await withRealParts('DaemonSet controllers compared', worldParts, () => {
  describe('a story leaves behind what it does with kube-controller-manager', () => {
    let [upstream, ours]: (Awaited<ReturnType<typeof playAll>> | undefined)[] = [];
    before(async () => {
      [upstream, ours] = await Promise.all([playAll('kube-controller-manager', stories), playAll('dkc', stories)]);
    });
    after(() => {
      const stale = Object.keys(differences).filter((name) => stories.every((story) => story.name !== name));
      assert.deepEqual(stale, [], 'differences of stories that are not played');
    });

    for (const { name } of stories) {
      test(name, () => {
        const [theirs = [], own = []] = [upstream?.left.get(name), ours?.left.get(name)];
        assert.notEqual(theirs.length, 0, 'the story was played');
        assert.deepEqual(failures(theirs), [], "the story itself, with kube-controller-manager's controller");
        assert.deepEqual(failures(own), [], `the story, with ours; its log ends with\n${ours?.log}`);
        const lines = differing(theirs, own);
        const { why = '', upstream: gone = [], ours: come = [] } = differences[name] ?? {};
        const expected = [...gone.map((line) => ['- ', line] as const), ...come.map((line) => ['+ ', line] as const)];
        const covers = ([sign, pattern]: readonly [string, RegExp], line: string) => line.startsWith(sign) && pattern.test(line.slice(2));
        const unexplained = lines.filter((line) => !expected.some((one) => covers(one, line)));
        assert.deepEqual(unexplained, [], 'lines that only one of the two left (- upstream, + ours), and no difference that explains them');
        const idle = expected.filter((one) => !lines.some((line) => covers(one, line))).map(([sign, pattern]) => sign + pattern.source);
        assert.deepEqual(idle, [], `no longer differs, so take it out of the differences: ${why}`);
      });
    }
  });
});

const failures = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('FAILED'));
