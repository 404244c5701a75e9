import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { differing } from '../../../support/stories/daemonset/dump.ts';
import { worldParts } from '../cluster/real-world.ts';
import { withRealParts } from '../suite.ts';
import { differences, everywhere } from './differences.ts';
import type { Difference } from './differences.ts';
import { playAll } from './play.ts';
import { stories } from '../../../support/stories/statefulset/all.ts';

/*
 * Every story is played to two StatefulSet controllers, each on a real control plane of its own: kube-controller-manager's and ours, as processes. What is left
 * at the end (sets with their status, pods, claims, revisions with their names and words, events) and the order in which pods came and went must be equal, but
 * for what differences.ts names.
 */
await withRealParts('StatefulSet controllers compared', worldParts, () => {
  describe('a story leaves behind what it does with kube-controller-manager', () => {
    let [upstream, ours]: (Awaited<ReturnType<typeof playAll>> | undefined)[] = [];
    const shown = new Set<Pattern>();
    const all = patternsOf(everywhere);
    before(async () => {
      [upstream, ours] = await Promise.all([playAll('kube-controller-manager', stories), playAll('dkc', stories)]);
    });
    after(() => {
      const stale = Object.keys(differences).filter((name) => stories.every((story) => story.name !== name));
      assert.deepEqual(stale, [], 'differences of stories that are not played');
      assert.deepEqual(all.filter((one) => !shown.has(one)).map(written), [], `no longer differs anywhere: ${everywhere.why}`);
    });

    for (const { name } of stories) {
      test(name, () => {
        const [theirs = [], own = []] = [upstream?.left.get(name), ours?.left.get(name)];
        assert.notEqual(theirs.length, 0, 'the story was played');
        assert.deepEqual(failures(theirs), [], "the story itself, with kube-controller-manager's controller");
        assert.deepEqual(failures(own), [], `the story, with ours; its log ends with\n${ours?.log}`);
        const expected = patternsOf(differences[name]);
        const unexplained = differing(theirs, own).filter((line) => {
          const by = [...expected, ...all].filter(({ sign, pattern }) => line.startsWith(sign) && pattern.test(line.slice(2)));
          for (const one of by) shown.add(one);
          return by.length === 0;
        });
        assert.deepEqual(unexplained, [], 'lines that only one of the two left (- upstream, + ours), and no difference that explains them');
        const idle = expected.filter((one) => !shown.has(one)).map(written);
        assert.deepEqual(idle, [], `no longer differs, so take it out of the differences: ${differences[name]?.why}`);
      });
    }
  });
});

interface Pattern {
  sign: '- ' | '+ ';
  pattern: RegExp;
}

function patternsOf({ upstream, ours }: Difference = { why: '', upstream: [], ours: [] }): Pattern[] {
  return [...upstream.map((pattern): Pattern => ({ sign: '- ', pattern })), ...ours.map((pattern): Pattern => ({ sign: '+ ', pattern }))];
}

const written = ({ sign, pattern }: Pattern): string => sign + pattern.source;
const failures = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('FAILED'));
