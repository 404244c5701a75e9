import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import * as fc from 'fast-check';
import { asOneError, describeError, errorCode, nearest } from '../../../base/errors.ts';
import { formatGoDuration, goDuration } from '../../../base/go-duration.ts';
import { openLineLog, type LineLogOptions } from '../../../base/line-log.ts';
import type { Log } from '../../../base/log.ts';
import { openLog } from '../../../base/pino-log.ts';
import { tempDir } from '../../support/temp-dir.ts';

test('one failure is thrown as it is, several as one that holds them', () => {
  const [a, b] = [new Error('a'), new Error('b')];
  assert.equal(asOneError([a], () => assert.fail('there is nothing to sum up')), a); // prettier-ignore
  const both = asOneError([a, b], () => 'two calls failed');
  assert.ok(both instanceof AggregateError);
  assert.deepEqual([both.errors, both.message], [[a, b], 'two calls failed']);
});

test('what an error says of its cause is not said again; a code that Node.js has no name for has the one of the system', () => {
  const inner = new Error('no such file');
  assert.equal(describeError(new Error('Cannot read f: no such file', { cause: inner })), 'Cannot read f: no such file');
  assert.equal(describeError(new Error('Cannot read f', { cause: inner })), 'Cannot read f (no such file)');
  const advised = new Error('self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca');
  assert.equal(describeError(new Error('Cannot GET', { cause: advised })), 'Cannot GET (self-signed certificate)');
  const codes = ['Unknown system error -122', 'Unknown system error -4095', 'EIO'].map((code) => errorCode({ code }));
  assert.deepEqual(codes, ['EDQUOT', 'Unknown system error -4095', 'EIO']);
});

test('a name is meant by what is a third of it away at most, or begins it, and by nothing else', () => {
  const asked = ['rolback', 'rollbcka', 'lz', 'retyr', 'ro', 'unrelated', ''];
  const meant = asked.map((one) => nearest(one, ['rollback', 'retry', 'ls']));
  assert.deepEqual(meant, ['rollback', 'rollback', 'ls', undefined, 'rollback', undefined, undefined]);
});

const durations: [text: string, nanoseconds: bigint, printed: string][] = [
  ['0', 0n, '0s'],
  ['1h30m', 5_400_000_000_000n, '1h30m0s'],
  ['-1.5h', -5_400_000_000_000n, '-1h30m0s'],
  ['1.5µs', 1500n, '1.5µs'],
  ['1us', 1000n, '1µs'],
  ['+.5s', 500_000_000n, '500ms'],
  ['9223372036854775807ns', 9_223_372_036_854_775_807n, '2562047h47m16.854775807s'],
  ['-9223372036854775808ns', -9_223_372_036_854_775_808n, '-2562047h47m16.854775808s'],
];
test('durations are those of Go, and what is printed parses back', () => {
  for (const [text, nanoseconds, printed] of durations)
    assert.deepEqual([goDuration(text), formatGoDuration(nanoseconds)], [nanoseconds, printed], text);
  for (const text of ['9223372036854775808ns', '', '1', '1d', '.s', '--1s', '1 s', '1s1']) assert.equal(goDuration(text), undefined, text);
  // Go itself loses nanoseconds of long fractions to float64; below a hundred hours nothing is lost.
  const below = { min: -360_000_000_000_000n, max: 360_000_000_000_000n };
  fc.assert(fc.property(fc.bigInt(below), (value) => assert.equal(goDuration(formatGoDuration(value)), value)));
});

/** What a log writes into a file. */
async function written(t: TestContext, open: (options: LineLogOptions) => Log, options: LineLogOptions, say: (log: Log) => void) {
  const path = join(await tempDir(t), 'log');
  const fd = openSync(path, 'w');
  say(open({ ...options, fd }));
  closeSync(fd);
  return readFileSync(path, 'utf8');
}

test('a line for the journal has its level, its text and its facts; one for a terminal begins with its time', async (t) => {
  const text = await written(t, openLineLog, { format: 'journald' }, (log) => {
    log.debug('not asked for');
    log.with({ node: 'a b' }).warn('odd', { count: 3, why: new Error('outer', { cause: new Error('inner') }) });
    log.error('bad', { text: 'two\nlines \u009b \u202e' });
  });
  const [odd = '', bad] = text.trimEnd().split('\n');
  assert.match(odd, /^<4>odd node="a b" count=3 why=".*outer.*inner.*"$/);
  assert.equal(bad, '<3>bad text="two\\nlines \\u009b \\u202e"');
  const shown = await written(t, openLineLog, { level: 'debug' }, (log) => log.debug('seen', { path: '/var/lib/dkc' }));
  assert.match(shown, /^\d{4}-\d\d-\d\dT[\d:.]+Z DEBUG seen path=\/var\/lib\/dkc\n$/);
});

test('json is one object a line, errors as text; a reader that is gone takes lines with it, not the process', async (t) => {
  const open = (options: LineLogOptions): Log => openLog({ ...options, format: 'json' });
  const text = await written(t, open, {}, (log) => log.info('seen', { error: new Error('no way') }));
  const { msg, error } = JSON.parse(text) as Record<string, unknown>;
  assert.deepEqual([msg, error], ['seen', 'no way']);
  const fd = openSync('/dev/null', 'r'); // nobody can write to it
  assert.doesNotThrow(() => openLineLog({ fd }).error('lost'));
  closeSync(fd);
});
