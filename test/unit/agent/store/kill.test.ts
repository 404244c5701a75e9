import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { FsStore } from '../../../../agent/store/fs-store.ts';
import { flock } from '../../../../base/lock.ts';
import { seededRandom } from '../../../../base/random.ts';
import { realDisk } from '../../../../base/disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

const writer = fileURLToPath(new URL('writer-process.ts', import.meta.url));

test('a writer killed at any moment loses nothing it has acknowledged, and keeps nobody out', async (t) => {
  const root = `${await tempDir(t)}/dkc`;
  const store = new FsStore({ disk: realDisk, locks: flock, root, clock: { now: () => 0 } });
  await store.initialize();
  const random = seededRandom(20);
  let acknowledged = 0;
  for (let round = 0; round < 4; round++) {
    const child = spawn(process.execPath, [writer, root, String(acknowledged + 1)], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(() => child.kill('SIGKILL'));
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (said += text));
    await once(child.stdout, 'data');
    await delay(random() * 60); // the moment of death is the point
    child.kill('SIGKILL');
    await once(child, 'close');
    const last = Number(said.slice(0, said.lastIndexOf('\n')).split('\n').at(-1));

    assert.equal(await store.initialize(), false);
    await store.sweep();
    const record = await store.record('assigned');
    assert.ok(record.at === 'known' && record.source);
    const now = Number(record.source.resourceVersion);
    assert.ok(now === last || now === last + 1, `acknowledged ${last}, found ${now}`);
    assert.equal((await store.load(record.source)).at, 'intact');
    assert.deepEqual(await store.verify(), []);
    acknowledged = now;
  }
});
