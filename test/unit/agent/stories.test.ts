import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Story } from '../../support/story.ts';
import { replay } from '../../support/transcript.ts';

const dir = join(import.meta.dirname, '../../transcripts');

for (const name of readdirSync(dir).filter((file) => file.endsWith('.txt'))) {
  test(`story: ${name.slice(0, -4).replaceAll('-', ' ')}`, async () => {
    const story = new Story(name.startsWith('two-nodes') ? ['node-a', 'node-b'] : ['node-a']);
    try {
      await replay(join(dir, name), (command) => story.run(command));
    } finally {
      assert.deepEqual(await story.end(), { sleepers: 0, watches: 0 }, 'an agent that ended left something behind');
    }
  });
}
