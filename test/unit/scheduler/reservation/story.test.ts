import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { replay } from '../../../support/transcript.ts';
import { Story } from './story.ts';

const dir = join(import.meta.dirname, 'transcripts');

for (const file of readdirSync(dir).filter((name) => name.endsWith('.txt')))
  test(`kept room: ${file.slice(0, -4).replaceAll('-', ' ')}`, async () => {
    const story = new Story();
    await replay(join(dir, file), (command) => Promise.resolve(story.run(command)));
  });
