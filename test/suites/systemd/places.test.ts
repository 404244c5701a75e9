import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMachine } from './machine.ts';
import type { PlacesResult } from './scenarios/places.ts';
import { machines } from './suite.ts';

await machines('the dynamic config directory', () => {
  const LINK = 'mkdir /srv/data; mount -t tmpfs data /srv/data; ln -s /srv/data/dkc /var/lib/dkc';
  const places: { why: string; make: string; repair?: string; says?: string }[] = [
    {
      why: 'and that of the settings may be links, to another file system',
      make: `${LINK}; mkdir /srv/data/dkc /srv/etc; ln -s /srv/etc /etc/dkc`,
    },
    {
      why: 'that is a link to a directory which is not there yet is named, and taken once it is there',
      make: LINK,
      repair: 'mkdir /srv/data/dkc',
      says: 'it is a symbolic link that leads to no directory: make that directory or mount its file system, remove the link,',
    },
  ];
  for (const { why, make, repair, says } of places) {
    test(why, async () => {
      const seen = await onMachine<PlacesResult>('places', { options: { make, repair } });
      const text = `Cannot use /var/lib/dkc: ${says} or set another directory with --dynamic-config-dir`;
      assert.deepEqual(seen, {
        ...(says === undefined ? {} : { says: `the agent cannot start error="${text}"` }),
        starts: [100, 142],
        same: true,
        isLink: true,
        store: ['checkpoints', 'journal.jsonl', 'meta'],
      });
    });
  }
});
