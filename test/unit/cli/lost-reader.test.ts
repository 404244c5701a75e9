import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { outliveReaders } from '../../../cli/program.ts';

const failed = (code: string): Error => Object.assign(new Error(`write ${code}`), { code });

test('a reader or a terminal that is gone is outlived, and no failure', () => {
  const stream = new EventEmitter();
  const failure = outliveReaders([stream]);
  // Without a listener the first of them would be thrown here, as Node does with an error that nobody minds.
  for (const code of ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED', 'EPIPE']) stream.emit('error', failed(code));
  assert.equal(failure(), undefined);
});

test('every other failure of a stream is remembered, the first one', () => {
  const [stdout, other] = [new EventEmitter(), new EventEmitter()];
  const failure = outliveReaders([stdout, other]);
  const full = failed('ENOSPC');
  other.emit('error', full);
  stdout.emit('error', failed('EFBIG'));
  assert.equal(failure(), full);
});
