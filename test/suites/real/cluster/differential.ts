import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Release } from '../../../support/real-parts/release.ts';
import { differing } from '../../../support/stories/remains.ts';
import type { SubjectName } from './controllers.ts';
import type { Played } from './play-stories.ts';

/** What a story leaves behind otherwise than kube-controller-manager, on purpose. */
export interface Difference {
  why: string;
  /** Shows beside minor releases from this one on, such as 22. @default all */
  from?: number;
  /** The first minor release that does as we do. @default none does */
  until?: number;
  /** Of lines that only kube-controller-manager's story has. */
  upstream: readonly RegExp[];
  ours: readonly RegExp[];
}

export interface Compared {
  /** Names of stories that are played. */
  stories: readonly string[];
  /** By story. Every line that differs is matched by a pattern, and every pattern by a line: one that no longer shows fails too. */
  differences: Readonly<Record<string, Difference>>;
  /** What differs wherever it may: each shows in some story. @default nothing */
  everywhere?: readonly Difference[];
  /** Of kube-controller-manager: differences that it does not have are left out. */
  release: Pick<Release, 'version' | 'minor'>;
  play: (subject: SubjectName) => Promise<Played>;
  /** Upstream's lines in the words that ours have. @default as they are */
  inWords?: (line: string) => string;
}

/** Every story is played to kube-controller-manager and to ours; what is left at the end must be equal, but for the differences that are named. */
export function compareWithUpstream({
  stories,
  differences: all,
  everywhere = [],
  release,
  play,
  inWords = (line) => line,
}: Compared): void {
  const differences = Object.fromEntries(Object.entries(all).filter(([, one]) => isOf(one, release)));
  describe(`a story leaves behind what it does with kube-controller-manager ${release.version}`, () => {
    let [upstream, ours]: (Played | undefined)[] = [];
    const shown = new Set<Pattern>();
    const anywhere = everywhere.filter((one) => isOf(one, release)).flatMap(patternsOf);
    before(async () => void ([upstream, ours] = await Promise.all([play('kube-controller-manager'), play('dkc')])));
    after(() => {
      const stale = Object.keys(all).filter((name) => !stories.includes(name));
      assert.deepEqual(stale, [], 'differences of stories that are not played');
      assert.deepEqual(anywhere.filter((one) => !shown.has(one)).map(written), [], 'no longer differs anywhere');
    });

    test('ours has all rights that it needs', () => assert.deepEqual(ours?.denied, []));

    for (const name of stories) {
      test(name, () => {
        const [theirs = [], own = []] = [upstream?.left.get(name), ours?.left.get(name)];
        assert.notEqual(theirs.length, 0, 'the story was played');
        assert.deepEqual(failures(theirs), [], "the story itself, with kube-controller-manager's controller");
        assert.deepEqual(failures(own), [], `the story, with ours; its log ends with\n${ours?.log}`);
        const expected = patternsOf(differences[name]);
        const unexplained = differing(theirs.map(inWords), own).filter((line) => {
          const by = [...expected, ...anywhere].filter(({ sign, pattern }) => line.startsWith(sign) && pattern.test(line.slice(2)));
          for (const one of by) shown.add(one);
          return by.length === 0;
        });
        assert.deepEqual(unexplained, [], 'lines that only one of the two left (- upstream, + ours), and no difference that explains them');
        const idle = expected.filter((one) => !shown.has(one)).map(written);
        assert.deepEqual(idle, [], `no longer differs, so take it out of the differences: ${differences[name]?.why}`);
      });
    }
  });
}

function isOf({ from = 0, until = Infinity }: Difference, { minor }: Pick<Release, 'minor'>): boolean {
  return from <= minor && minor < until;
}

interface Pattern {
  sign: '- ' | '+ ';
  pattern: RegExp;
}

function patternsOf({ upstream, ours }: Difference = { why: '', upstream: [], ours: [] }): Pattern[] {
  return [...upstream.map((pattern): Pattern => ({ sign: '- ', pattern })), ...ours.map((pattern): Pattern => ({ sign: '+ ', pattern }))];
}

const written = ({ sign, pattern }: Pattern): string => sign + pattern.source;
const failures = (lines: readonly string[]): string[] => lines.filter((line) => line.startsWith('FAILED'));
