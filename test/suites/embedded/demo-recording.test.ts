import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { comparable, playDemo, readCast } from '../../../scripts/demo/recording.ts';
import { terminalSvg } from '../../../scripts/demo/terminal-svg.ts';

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
});
