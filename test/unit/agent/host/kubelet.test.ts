import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { learnKubelet, VersionRecord } from '../../../../agent/host/kubelet.ts';
import { silentLog, type Log } from '../../../../base/log.ts';

const argv = '{ path=/usr/bin/kubelet ; argv[]=/usr/bin/kubelet --v=2 ; ignore_errors=no ; }';
/** A machine whose unit starts a kubelet that calls itself `version`, and is told to `asked` whenever it is asked. */
const machine =
  (version: string, asked: string[] = []) =>
  async (program: string, args: readonly string[]) => {
    if (program !== 'systemctl') asked.push(args.join(' '));
    const stdout = args[0] === '--version' ? `Kubernetes ${version}\n` : args.includes('ExecStart') ? argv : '';
    return { code: 0, stdout, stderr: '' };
  };

/** What is learnt of it, and what was warned of meanwhile. */
async function learn(version: string, kubeletVersion?: string) {
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (text) => void warned.push(text) };
  const options = { kubeletUnit: 'kubelet.service', ...(kubeletVersion === undefined ? {} : { kubeletVersion }) };
  return { facts: await learnKubelet({ options, disk: memoryDisk({}), exec: machine(version), log }), warned };
}

for (const { why, flag } of [{ why: 'by its binary' }, { why: 'by the flag', flag: 'v1.40.1' }])
  test(`a kubelet newer than all that is known, ${why}, is validated as the newest, with a warning`, async () => {
    const { facts, warned } = await learn('v1.40.1', flag);
    assert.deepEqual([facts.version.major, facts.version.minor, facts.newer], [1, 37, 'v1.40.1']);
    assert.deepEqual([warned, facts.args], [['kubelet is newer than the versions that this agent supports'], ['--v=2']]);
  });

test('a flag that names a kubelet older than all that is known is an error, a binary that is one never ends the agent', async () => {
  await assert.rejects(learn('v1.30.0', '1.19'), /Cannot validate a configuration for kubelet 1\.19: .*1\.20 to 1\.37.*older/);
  const { facts, warned } = await learn('v1.19.3');
  assert.equal(facts.version.minor, 37);
  assert.equal(warned.length, 2);
});

const PATH = '/var/lib/dkc/kubelet-version.json';
const KUBELET = '/usr/bin/kubelet';

/** A node with these files, whose kubelet is of this version. */
function node(files: Map<string, string>, version: string) {
  const asked: string[] = [];
  const disk = {
    read: async (path: string) => {
      const text = files.get(path);
      if (text === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      return new TextEncoder().encode(text);
    },
    readLinked: async () => new Uint8Array(),
    replace: async (path: string, bytes: Uint8Array) => void files.set(path, new TextDecoder().decode(bytes)),
    stat: async (path: string) => {
      const text = files.get(path);
      return text === undefined ? undefined : ({ kind: 'file', bytes: text.length, mode: 0o755, modifiedMs: 1 } as const);
    },
  };
  const memo = new VersionRecord(disk, PATH, silentLog);
  const learn = async () =>
    (await learnKubelet({ options: { kubeletUnit: 'kubelet.service' }, disk, exec: machine(version, asked), log: silentLog, memo })).version
      .text;
  return { learn, asked };
}

test('the same binary is asked for its version once, another one anew', async () => {
  const files = new Map([[KUBELET, 'old binary']]);
  const first = node(files, 'v1.20.2');
  assert.deepEqual([await first.learn(), await first.learn(), first.asked], ['v1.20.2', 'v1.20.2', ['--version']]);
  files.set(KUBELET, 'a newer binary');
  const second = node(files, 'v1.29.1');
  assert.deepEqual([await second.learn(), second.asked], ['v1.29.1', ['--version']]);
});
