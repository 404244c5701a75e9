import assert from 'node:assert/strict';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cpuList, cpuManagerState, listeners, memoryManagerState, memoryTotal, readOnlyPaths } from '../../../../agent/host/facts.ts';
import { readHost } from '../../../../agent/host/host.ts';
import { type Disk, realDisk } from '../../../../base/disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';

// prettier-ignore
const lists: { text: string; is: number[] | undefined }[] = [
  { text: '0-1,8,10-11\n', is: [0, 1, 8, 10, 11] },
  { text: '0-99999999', is: undefined },
];
for (const { text, is } of lists)
  test(`CPU list ${JSON.stringify(text)} ${is ? 'is read' : 'is not one'}`, () => assert.deepEqual(cpuList(text), is));

test('memory is counted in bytes', () => {
  assert.equal(memoryTotal('MemTotal:       24576000 kB\nMemFree: 1 kB\n'), 24_576_000n * 1024n);
  assert.equal(memoryTotal('MemFree: 1 kB\n'), undefined);
});

test('the state file of the CPU manager tells its policy and the CPUs that are shared', () => {
  assert.deepEqual(cpuManagerState('{"policyName":"static","defaultCpuSet":"0-1,3"}'), { policyName: 'static', sharedCpus: [0, 1, 3] });
  assert.deepEqual(cpuManagerState('{"policyName":"none","defaultCpuSet":""}'), { policyName: 'none' });
  for (const text of ['', '{', 'null', '[]', '{"policyName":1}']) assert.equal(cpuManagerState(text), undefined, text);
});

test('the state file of the memory manager tells its policy and what was reserved', () => {
  const machineState = { 0: { memoryMap: { memory: { systemReserved: 1_048_576 } } }, 1: { memoryMap: {} } };
  const text = JSON.stringify({ policyName: 'Static', machineState });
  assert.deepEqual(memoryManagerState(text), { policyName: 'Static', reserved: { 0: 1_048_576n } });
  assert.deepEqual(memoryManagerState('{"policyName":"None"}'), { policyName: 'None' });
  assert.equal(memoryManagerState('x'), undefined);
});

// prettier-ignore
const tables: { why: string; line: string; is: { address: string; port: number }[] }[] = [
  { why: 'one of loopback', line: '   0: 0100007F:2808 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1', is: [{ address: '127.0.0.1', port: 10_248 }] },
  { why: 'one of version 6', line: '   2: B80D0120000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0', is: [{ address: '2001:db8::1', port: 22 }] },
  { why: 'one of version 4 in 6', line: '   3: 0000000000000000FFFF00000100007F:0016 00000000000000000000000000000000:0000 0A 0', is: [{ address: '127.0.0.1', port: 22 }] },
  { why: 'a connection, which listens to nobody', line: '   4: 0100007F:2808 0100007F:C350 01 00000000:00000000 00:00000000 00000000 0 0 1 1', is: [] },
];
for (const { why, line, is } of tables) test(`of listening sockets is read ${why}`, () => assert.deepEqual(listeners(`${line}\n`), is));

// prettier-ignore
const mounts: { why: string; lines: string[]; is: string[] }[] = [
  { why: 'what lies below a folder', lines: ['23 22 0:21 / /proc rw - proc proc rw', '24 23 0:21 /sys /proc/sys ro,nosuid - proc proc rw'], is: ['/proc/sys/vm/a', '/proc/sys/kernel/b'] },
  { why: 'one file', lines: ['23 22 0:21 / /proc rw - proc proc rw', '24 23 0:21 /sys/vm/a /proc/sys/vm/a ro - proc proc rw'], is: ['/proc/sys/vm/a'] },
];
for (const { why, lines, is } of mounts)
  test(`of mounts that cannot be written is found ${why}`, () =>
    assert.deepEqual(readOnlyPaths(lines.join('\n'), ['/proc/sys/vm/a', '/proc/sys/kernel/b']), is));

const none = (): never => {
  throw Object.assign(new Error('nothing there'), { code: 'ENOENT' });
};
/** A host of which only these files are seen. */
const host = (files: Record<string, string>): Pick<Disk, 'read' | 'readLinked' | 'stat' | 'list' | 'capacity'> => {
  const read = async (path: string): Promise<Uint8Array> => new TextEncoder().encode(files[path] ?? none());
  const stat: Disk['stat'] = async (path) => (path in files ? { kind: 'file', bytes: 1, mode: 0o600, modifiedMs: 0 } : undefined);
  return { read, readLinked: read, stat, list: async (path) => (path === '/proc' ? ['1', '7', 'self'] : none()), capacity: async () => undefined }; // prettier-ignore
};

test('a file that only a private /tmp hides is not said to be missing', async () => {
  const config = { authentication: { x509: { clientCAFile: '/etc/ca.pem' } }, tlsCertFile: '/etc/no.pem', tlsPrivateKeyFile: '/tmp/ca.pem', resolvConf: '/var/tmp/ca.pem' }; // prettier-ignore
  const { paths } = await readHost(host({ '/etc/ca.pem': 'x' }), config, { args: [], hidden: ['/tmp/', '/var/tmp/'] });
  assert.deepEqual(paths, { '/etc/ca.pem': 'file', '/etc/no.pem': 'missing' });
});

test('a real host is read: links are followed, and one that leads nowhere is a missing file', async (t) => {
  const dir = await tempDir(t);
  await symlink('/proc/self/status', join(dir, 'ca'));
  await symlink('none', join(dir, 'nowhere'));
  const { paths, onlineCpus, memoryBytes } = await readHost(realDisk, {
    tlsCertFile: join(dir, 'ca'),
    tlsPrivateKeyFile: join(dir, 'nowhere'),
  });
  assert.deepEqual(Object.values(paths ?? {}), ['file', 'missing']);
  assert.ok((onlineCpus?.length ?? 0) > 0 && (memoryBytes ?? 0n) > 0n);
});
