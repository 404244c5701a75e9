import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Story } from '../../support/story.ts';
import { replay } from '../../support/transcript.ts';

const dir = join(import.meta.dirname, '../../transcripts');
/** What `disk broken` does: a story of it is played with each. */
const disksOf = (name: string): string[] => (name.startsWith('broken-disk') ? ['full', 'read-only'] : ['']);

for (const name of readdirSync(dir).filter((file) => file.endsWith('.txt')))
  for (const disk of disksOf(name))
    test(`story: ${`${name.slice(0, -4).replaceAll('-', ' ')} ${disk}`.trim()}`, async () => {
      const story = new Story();
      try {
        await replay(join(dir, name), (command) => story.run(command.replace('disk broken', `disk ${disk}`)));
      } finally {
        assert.deepEqual(await story.node.end(), { sleepers: 0, watches: 0 }, 'an agent that ended left something behind');
      }
    });
