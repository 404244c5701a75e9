import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHost } from '../../../../agent/host/host.ts';
import type { Disk } from '../../../../base/disk.ts';

const none = (): never => {
  throw Object.assign(new Error('nothing there'), { code: 'ENOENT' });
};
/** A host of which only these files are seen. */
const host = (files: Record<string, string>): Pick<Disk, 'read' | 'readLinked' | 'stat' | 'list'> => {
  const read = async (path: string): Promise<Uint8Array> => new TextEncoder().encode(files[path] ?? none());
  const stat: Disk['stat'] = async (path) => (path in files ? { kind: 'file', bytes: 1, mode: 0o600, modifiedMs: 0 } : undefined);
  return { read, readLinked: read, stat, list: async () => none() };
};

test("state files of the managers are looked for below the kubelet's own --root-dir", async () => {
  const files = {
    '/data/kubelet/cpu_manager_state': '{"policyName":"static"}',
    '/var/lib/kubelet/cpu_manager_state': '{"policyName":"none"}',
  };
  assert.deepEqual((await readHost(host(files), {}, { args: ['--root-dir=/data/kubelet'] })).cpuManagerState, { policyName: 'static' });
  assert.deepEqual((await readHost(host(files), {})).cpuManagerState, { policyName: 'none' });
});

test('a file that only a private /tmp hides is not said to be missing', async () => {
  const config = {
    authentication: { x509: { clientCAFile: '/etc/ca.pem' } },
    tlsCertFile: '/etc/no.pem',
    tlsPrivateKeyFile: '/tmp/ca.pem',
    resolvConf: '/var/tmp/ca.pem',
  };
  const { paths } = await readHost(host({ '/etc/ca.pem': 'x' }), config, {
    args: [],
    hidden: ['/tmp/', '/var/tmp/'],
  });
  assert.deepEqual(paths, { '/etc/ca.pem': 'file', '/etc/no.pem': 'missing' });
});
