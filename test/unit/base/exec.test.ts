import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realExec } from '../../../base/exec.ts';

const sh = (script: string, options?: Parameters<typeof realExec>[2]) => realExec('/bin/sh', ['-c', script], options);

test('exec gives exit code and both outputs, passes arguments past every shell, and adds to the environment', async () => {
  assert.deepEqual(await sh('echo out; echo err >&2; exit 3'), { code: 3, stdout: 'out\n', stderr: 'err\n' });
  assert.equal((await realExec('/bin/echo', ['$HOME', '; exit 1', '*'])).stdout, '$HOME ; exit 1 *\n');
  const { stdout } = await sh('echo "$DKC_TEST $PATH"', { env: { DKC_TEST: 'here' } });
  assert.equal(stdout, `here ${process.env['PATH']}\n`);
});

test('exec ends a program that takes too long, deaf to SIGTERM or not, or that nobody waits for any more, without a code', async () => {
  const late = await sh('trap "" TERM; echo begun; exec sleep 30', { timeoutMs: 100 });
  assert.equal(late.code, null);
  assert.notEqual(late.stderr, '');
  const end = new AbortController();
  const unwanted = sh('exec sleep 30', { signal: end.signal });
  end.abort();
  assert.equal((await unwanted).code, null);
  assert.equal((await sh('exit 0', { signal: end.signal })).code, null, 'aborted before it began');
});

const failures = [
  { program: '/no/such/program', args: [], reason: /ENOENT/ },
  { program: '/etc/passwd', args: [], reason: /EACCES/ },
  { program: '', args: [], reason: /empty/ },
  { program: '/bin/echo', args: ['a\0b'], reason: /null bytes/ },
  { program: '/bin/echo', args: ['x'.repeat(3_000_000)], reason: /E2BIG/ },
  { program: '/bin/sh', args: ['-c', 'yes'], reason: /maxBuffer/ },
];
for (const { program, args, reason } of failures)
  test(`exec never throws: there is no code, and a reason: ${reason.source}`, async () => {
    const { code, stderr } = await realExec(program, args);
    assert.equal(code, null);
    assert.match(stderr, reason);
  });
