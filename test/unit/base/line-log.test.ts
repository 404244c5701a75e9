import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { tempDir } from '../../support/temp-dir.ts';
import { openLineLog, type LineLogOptions } from '../../../base/line-log.ts';
import { openLog } from '../../../base/pino-log.ts';
import type { Log } from '../../../base/log.ts';

/** What a log writes into a file. */
async function written(t: TestContext, open: (options: LineLogOptions) => Log, options: LineLogOptions, say: (log: Log) => void) {
  const path = join(await tempDir(t), 'log');
  const fd = openSync(path, 'w');
  say(open({ ...options, fd }));
  closeSync(fd);
  return readFileSync(path, 'utf8');
}

test('a line for the journal has its level, its text and its facts', async (t) => {
  const text = await written(t, openLineLog, { format: 'journald' }, (log) => {
    log.debug('not asked for');
    log.with({ node: 'a b' }).warn('odd', { count: 3, why: new Error('outer', { cause: new Error('inner') }) });
    log.error('bad', { text: 'two\nlines \u009b \u202e' });
  });
  const [odd = '', bad] = text.trimEnd().split('\n');
  assert.match(odd, /^<4>odd node="a b" count=3 why=".*outer.*inner.*"$/);
  assert.equal(bad, '<3>bad text="two\\nlines \\u009b \\u202e"');
});

test('a line for a terminal begins with its time', async (t) => {
  const text = await written(t, openLineLog, { level: 'debug' }, (log) => log.debug('seen', { path: '/var/lib/dkc' }));
  assert.match(text, /^\d{4}-\d\d-\d\dT[\d:.]+Z DEBUG seen path=\/var\/lib\/dkc\n$/);
});

test('json is one object a line, errors as text', async (t) => {
  const open = (options: LineLogOptions): Log => openLog({ ...options, format: 'json' });
  const text = await written(t, open, {}, (log) => log.info('seen', { error: new Error('no way') }));
  const { msg, error } = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([msg, error], ['seen', 'no way']);
});

test('a reader that is gone takes lines with it, not the process', () => {
  // A descriptor that nobody can write to.
  const fd = openSync('/dev/null', 'r');
  assert.doesNotThrow(() => openLineLog({ fd }).error('lost'));
  closeSync(fd);
});
