import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realExec } from '../../../base/exec.ts';

const sh = (script: string, options?: Parameters<typeof realExec>[2]) => realExec('/bin/sh', ['-c', script], options);

test('exec gives exit code and both outputs', async () => {
  assert.deepEqual(await sh('echo out; echo err >&2; exit 3'), { code: 3, stdout: 'out\n', stderr: 'err\n' });
  assert.deepEqual(await sh('exit 0'), { code: 0, stdout: '', stderr: '' });
});

test('exec passes arguments as they are: no shell reads them', async () => {
  const { stdout } = await realExec('/bin/echo', ['$HOME', '; exit 1', '*']);
  assert.equal(stdout, '$HOME ; exit 1 *\n');
});

test('exec adds to the environment and keeps the rest of it', async () => {
  const { stdout } = await sh('echo "$DKC_TEST $PATH"', { env: { DKC_TEST: 'here' } });
  assert.equal(stdout, `here ${process.env['PATH']}\n`);
  assert.equal(process.env['DKC_TEST'], undefined);
});

test('exec ends a program that takes too long, or that nobody waits for any more, without a code', async () => {
  const late = await sh('echo begun; exec sleep 30', { timeoutMs: 50 });
  assert.equal(late.code, null);
  assert.notEqual(late.stderr, '');
  const end = new AbortController();
  const unwanted = sh('exec sleep 30', { signal: end.signal });
  end.abort();
  assert.equal((await unwanted).code, null);
  assert.equal((await sh('exit 0', { signal: end.signal })).code, null, 'aborted before it began');
});

test('exec ends a program that is deaf to SIGTERM', async () => {
  const deaf = await sh('trap "" TERM; exec sleep 30', { timeoutMs: 100 });
  assert.equal(deaf.code, null);
});

const failures = [
  { why: 'is not there', program: '/no/such/program', args: [], reason: /ENOENT/ },
  { why: 'is not executable', program: '/etc/passwd', args: [], reason: /EACCES/ },
  { why: 'lies below a file', program: '/etc/passwd/program', args: [], reason: /ENOTDIR/ },
  { why: 'has no name', program: '', args: [], reason: /empty/ },
  { why: 'is given an argument no kernel takes', program: '/bin/echo', args: ['a\0b'], reason: /null bytes/ },
  { why: 'is given arguments beyond every limit', program: '/bin/echo', args: ['x'.repeat(3_000_000)], reason: /E2BIG/ },
];
for (const { why, program, args, reason } of failures) {
  test(`exec never throws: a program that ${why} has no code, and a reason`, async () => {
    const { code, stderr } = await realExec(program, args);
    assert.equal(code, null);
    assert.match(stderr, reason);
  });
}

test('exec takes an answer without end for no answer', async () => {
  const { code, stderr } = await sh('yes', { timeoutMs: 60_000 });
  assert.equal(code, null);
  assert.match(stderr, /maxBuffer/);
});
