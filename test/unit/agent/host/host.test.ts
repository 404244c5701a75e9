import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHost } from '../../../../agent/host/host.ts';
import type { Disk } from '../../../../base/disk.ts';

const none = (): never => {
  throw Object.assign(new Error('nothing there'), { code: 'ENOENT' });
};
/** A host of which only these files are seen. */
const host = (files: Record<string, string>): Pick<Disk, 'read' | 'readLinked' | 'stat' | 'list' | 'capacity'> => {
  const read = async (path: string): Promise<Uint8Array> => new TextEncoder().encode(files[path] ?? none());
  const stat: Disk['stat'] = async (path) => (path in files ? { kind: 'file', bytes: 1, mode: 0o600, modifiedMs: 0 } : undefined);
  return {
    read,
    readLinked: read,
    stat,
    list: async (path) => (path === '/proc' ? ['1', '7', 'self'] : none()),
    capacity: async () => undefined,
  };
};

test('a file that only a private /tmp hides is not said to be missing', async () => {
  const config = {
    authentication: { x509: { clientCAFile: '/etc/ca.pem' } },
    tlsCertFile: '/etc/no.pem',
    tlsPrivateKeyFile: '/tmp/ca.pem',
    resolvConf: '/var/tmp/ca.pem',
  };
  const { paths } = await readHost(host({ '/etc/ca.pem': 'x' }), config, { args: [], hidden: ['/tmp/', '/var/tmp/'] });
  assert.deepEqual(paths, { '/etc/ca.pem': 'file', '/etc/no.pem': 'missing' });
});

test('kernel settings are read-only for the kubelet by the mounts that it sees, not by those of the host', async () => {
  const proc = '23 22 0:21 / /proc rw - proc proc rw\n';
  const readOnly = `${proc}24 23 0:21 /sys /proc/sys ro - proc proc rw\n`;
  const seen = async (ofHost: string, ofKubelet: string, comm = 'kubelet\n'): Promise<number> => {
    const files = { '/proc/1/mountinfo': ofHost, '/proc/1/comm': 'systemd\n', '/proc/7/comm': comm, '/proc/7/mountinfo': ofKubelet };
    return (await readHost(host(files), {})).readOnlySysctls?.length ?? 0;
  };
  assert.equal(await seen(readOnly, readOnly), 6);
  assert.equal(await seen(readOnly, proc), 0);
  assert.equal(await seen(readOnly, readOnly, 'bash\n'), 0);
  assert.equal(await seen(proc, readOnly), 0);
});
