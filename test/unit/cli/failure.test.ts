import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { ActionError } from '../../../base/errors.ts';
import { failureText } from '../../../cli/failure.ts';

test('an error of the system about a file comes out as action, object and remedy, with its cause', async () => {
  const error = await readFile('/dev/null/x').catch((error: unknown) => error);
  assert.equal(
    failureText(error, false),
    "dkc: Cannot open /dev/null/x: a part of its path is not a directory (ENOTDIR: not a directory, open '/dev/null/x')\n",
  );
  const bare = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
  assert.match(failureText(bare, false), /^dkc: Cannot use a file: the disk is full; free some space \(ENOSPC: no space left\)\n$/);
});

test('an error with a remedy of its own is left alone, and a bug still says how to see more', () => {
  const cause = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT' });
  assert.equal(
    failureText(new ActionError('read', '/x', { hint: 'write it first', cause }), false),
    'dkc: Cannot read /x: write it first (ENOENT: no such file)\n',
  );
  assert.equal(failureText(new TypeError('x is not a function'), false), 'dkc: x is not a function; use -v for a stack trace\n');
});
