import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logFormat } from '../../../../cli/process/run.ts';

const formats = [
  { why: 'at a terminal', asked: 'text', env: {}, is: 'text' },
  { why: 'under systemd', asked: 'text', env: { JOURNAL_STREAM: '8:1' }, is: 'journald' },
  { why: 'for a collector', asked: 'json', env: { JOURNAL_STREAM: '8:1' }, is: 'json' },
] as const;
for (const { why, asked, env, is } of formats) test(`the log ${why} is ${is}`, () => assert.equal(logFormat(asked, env), is));
