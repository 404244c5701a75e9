import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { learnKubelet } from '../../../../agent/host/kubelet.ts';
import { silentLog, type Log } from '../../../../base/log.ts';

/** A node whose unit starts a kubelet that calls itself `version`, and what was warned of while it was asked. */
async function learn(version: string, kubeletVersion?: string) {
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (text) => void warned.push(text) };
  const argv = '{ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet --v=2 ; ignore_errors=no ; }';
  const exec = async (_program: string, args: readonly string[]) => {
    if (args[0] === '--version') return { code: 0, stdout: `Kubernetes ${version}\n`, stderr: '' };
    return { code: 0, stdout: args.includes('ExecStart') ? argv : '', stderr: '' };
  };
  const options = { kubeletUnit: 'kubelet.service', ...(kubeletVersion === undefined ? {} : { kubeletVersion }) };
  return { facts: await learnKubelet({ options, disk: memoryDisk({}), exec, log }), warned };
}

test('a kubelet tells its version and its arguments', async () => {
  const { facts, warned } = await learn('v1.30.2+vendor');
  assert.deepEqual([facts.version.minor, facts.version.text, facts.args], [30, 'v1.30.2+vendor', ['--v=2']]);
  assert.deepEqual([facts.newer, warned], [undefined, []]);
});

for (const { why, flag } of [{ why: 'by its binary' }, { why: 'by the flag', flag: 'v1.40.1' }])
  test(`a kubelet newer than all that is known, ${why}, is validated as the newest, with a warning`, async () => {
    const { facts, warned } = await learn('v1.40.1', flag);
    assert.deepEqual([facts.version.major, facts.version.minor, facts.newer], [1, 37, 'v1.40.1']);
    assert.deepEqual([warned, facts.args], [['kubelet is newer than the versions that this agent supports'], ['--v=2']]);
  });

test('a flag that names a kubelet older than all that is known is an error, a binary that is one never ends the agent', async () => {
  await assert.rejects(
    learn('v1.30.0', '1.19'),
    /^ActionError: Cannot validate a configuration for kubelet 1\.19: .*1\.20 to 1\.37.*older/,
  );
  const { facts, warned } = await learn('v1.19.3');
  assert.equal(facts.version.minor, 37);
  assert.equal(warned.length, 2);
});
