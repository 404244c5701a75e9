import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { castOf, comparable, playDemo, readCast } from '../../../scripts/demo/recording.ts';
import { shownAt, terminalSvg } from '../../../scripts/demo/terminal-svg.ts';

const file = (name: string): string => readFileSync(new URL(`../../../${name}`, import.meta.url), 'utf8');
const recorded = readCast(file('docs/demo.cast'));

describe('the recording of the demo', () => {
  test('is what the demo prints today; npm run demo:record writes it', async () => {
    const played = await playDemo();
    assert.deepEqual(played.map(comparable), recorded.map(comparable));
  });

  test('has the picture that README shows', () => {
    assert.equal(file('docs/demo.svg'), terminalSvg(recorded));
    assert.match(file('README.md'), /!\[[^\]]{10,}\]\(docs\/demo\.svg\)/);
  });

  test('is read as it was written', () => {
    assert.equal(castOf(recorded), file('docs/demo.cast'));
  });

  test('waits as long as the demo did, but for pauses that are too short to read or too long to wait for', () => {
    const said = [0, 10, 1_000, 9_000].map((atMs) => ({ atMs, line: '' }));
    assert.deepEqual(shownAt(said), [140, 280, 1_270, 2_770]);
  });

  test('lines of two runs are the same but for times and names, and others are not', () => {
    const [one, two] = [
      '          8d12fe6b   dkc-system/later:kubelet@40     kubelet   82 B    5s      active',
      '          039f11c0   dkc-system/later:kubelet@39   kubelet   82 B    11s    active',
    ].map((line) => comparable({ line }));
    assert.equal(one, two);
    assert.notEqual(one, comparable({ line: '          039f11c0   dkc-system/later:kubelet@39   kubelet   83 B    11s    active' }));
    assert.equal(
      comparable({ line: ' 10.00 s  healthy for 3 s: it is now' }),
      comparable({ line: '  9.13 s  healthy for 3 s: it is now' }),
    );
    assert.equal(
      comparable({ line: '  Since: 2026-11-26T10:00:00Z (12s ago)' }),
      comparable({ line: '  Since: 2026-11-26T11:00:00Z (just now)' }),
    );
    assert.notEqual(comparable({ line: '  1.00 s  a' }), comparable({ line: '  1.00 s  b' }));
  });
});
