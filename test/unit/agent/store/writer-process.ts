// Started by kill.test.ts with a root and a first number: saves and assigns one version after the other, and says each that it was
// promised is on disk, until it is killed.
import { writeSync } from 'node:fs';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { realClock } from '../../../../base/clock.ts';
import { flock } from '../../../../base/lock.ts';
import { realDisk } from '../../../../base/disk.ts';
import { payload, source } from './store-changes.ts';

const [root = '', first = '1'] = process.argv.slice(2);
const store = new FsStore({ disk: realDisk, locks: flock, root, clock: realClock });
for (let n = Number(first); ; n++) {
  const to = source('a', String(n));
  await store.save(payload(to, `version ${n}`));
  await store.setRecord('assigned', to);
  writeSync(1, `${n}\n`);
  if (n % 3 === 0) await store.removeCheckpoint(source('a', String(n - 1)));
}
