import assert from 'node:assert/strict';
import { test } from 'node:test';
import { learnKubelet, VersionRecord } from '../../../../agent/host/kubelet.ts';
import type { Exec } from '../../../../base/exec.ts';
import { silentLog } from '../../../../base/log.ts';

const PATH = '/var/lib/dkc/kubelet-version.json';
const KUBELET = '/usr/bin/kubelet';

/** A node whose unit starts KUBELET; `answers` is what that says to --version, undefined where it hangs. */
function node(files: Map<string, string>, answers: string | undefined) {
  const asked: string[] = [];
  const exec: Exec = async (program, args) => {
    if (program === 'systemctl')
      return { code: 0, stdout: args.includes('ExecStart') ? `{ path=x ; argv[]=${KUBELET} ; ignore_errors=no ; }` : '', stderr: '' };
    asked.push(args.join(' '));
    return answers === undefined
      ? { code: null, stdout: '', stderr: 'timed out' }
      : { code: 0, stdout: `Kubernetes ${answers}\n`, stderr: '' };
  };
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
    (await learnKubelet({ options: { kubeletUnit: 'kubelet.service' }, disk, exec, log: silentLog, memo })).version.text;
  return { learn, memo, asked };
}

test('the same binary is asked for its version once, another one anew', async () => {
  const files = new Map([[KUBELET, 'old binary']]);
  const first = node(files, 'v1.20.2');
  assert.deepEqual([await first.learn(), await first.learn(), first.asked], ['v1.20.2', 'v1.20.2', ['--version']]);
  files.set(KUBELET, 'a newer binary');
  const second = node(files, 'v1.29.1');
  assert.deepEqual([await second.learn(), second.asked], ['v1.29.1', ['--version']]);
});

test('a kubelet that does not answer is the one that answered last, and not the newest that is known', async () => {
  const files = new Map([[KUBELET, 'old binary']]);
  await node(files, 'v1.20.2').learn();
  files.set(KUBELET, 'another binary');
  assert.equal(await node(files, undefined).learn(), 'v1.20.2');
});

test('what the Node said counts where no binary can be asked', async () => {
  const files = new Map<string, string>();
  const { memo, learn } = node(files, undefined);
  assert.equal(await learn(), '1.37');
  await memo.remember('v1.22.3');
  assert.equal(await learn(), 'v1.22.3');
});

for (const damaged of ['', '{', '{"version":7}', '{"version":"seven"}'])
  test(`a remembered version that reads ${JSON.stringify(damaged)} is learned anew`, async () => {
    const files = new Map([
      [KUBELET, 'binary'],
      [PATH, damaged],
    ]);
    assert.equal(await node(files, 'v1.20.2').learn(), 'v1.20.2');
    assert.equal(await node(new Map([[PATH, damaged]]), undefined).learn(), '1.37');
  });
