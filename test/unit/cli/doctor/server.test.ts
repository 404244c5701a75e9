import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { connect } from '../../../../cli/connect/connect.ts';
import { manifests } from '../../../../deploy/manifests.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { apiServer } from '../../../support/embedded-api.ts';
import { nodeOnDisk } from '../../../support/node-on-disk.ts';
import { tempDir } from '../../../support/temp-dir.ts';
import { realClock } from '../../../../base/clock.ts';

type Results = Map<string, { result: string; detail: string }>;

const node = { token: 'of-node-a', user: 'system:node:node-a', groups: ['system:nodes', 'system:authenticated'] };

/** `dkc doctor` on a node whose agent has this kubeconfig. */
const lookWith = (t: TestContext, kubeconfig: string) => async (settings: Record<string, string> = {}, now = Date.now()): Promise<Results> => {
  const { dkcIn } = await nodeOnDisk(t, { kubeconfig, ...settings });
  const { stdout } = await dkcIn({ connect: (query) => connect(query, {}), clock: { ...realClock, now: () => now } }, 'doctor', '-o', 'json');
  return new Map((JSON.parse(stdout) as { check: string; result: string; detail: string }[]).map((line) => [line.check, line]));
}; // prettier-ignore

const of = (found: Results, ...names: string[]): string[] => names.map((name) => `${name} ${found.get(name)?.result}`);

test('a node of a cluster without our manifests is told what is missing, and with them all is fine', async (t) => {
  const server = await apiServer({ tokens: [node], version: 'v1.36.3' });
  t.after(() => server.stop());
  const kubeconfig = join(await tempDir(t), 'kubelet.conf');
  await writeFile(kubeconfig, server.kubeconfig(node.token), { mode: 0o666 });
  await chmod(kubeconfig, 0o666);
  const look = lookWith(t, kubeconfig);
  const before = await look();
  assert.deepEqual(of(before, 'kubeconfig', 'api-server', 'node-object', 'agent-rights', 'clock', 'server-certificate'), ['kubeconfig ok', 'api-server ok', 'node-object failed', 'agent-rights failed', 'clock ok', 'server-certificate ok']); // prettier-ignore
  assert.match(
    before.get('agent-rights')?.detail ?? '',
    /get, list, watch nodeconfigs\.dkc\.dev node-a.*configmaps in namespace dkc-system/,
  );
  assert.match(before.get('writable-by-others')?.detail ?? '', /kubelet\.conf (has mode 0666|belongs to user)/);
  assert.match(before.get('readable-by-others')?.detail ?? '', /kubelet\.conf has mode 0666/);
  server.add({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } });
  for (const object of manifests({ release: 36, credentials: 'kubelet', nodes: [], listsPods: false }))
    if (object.kind !== 'Namespace') server.add(object);
  assert.deepEqual(of(await look(), 'node-object', 'assignment', 'agent-rights'), ['node-object ok', 'assignment ok', 'agent-rights ok']);
});

test('certificates are read from their files, with the day on which they expire', async (t) => {
  const authority = await makeAuthority();
  t.after(() => authority.remove());
  const { cert, key } = await authority.client('system:node:node-a', ['system:nodes']);
  const [dir, other] = [await tempDir(t), await authority.client('other')];
  const [pem, kubeconfig] = [join(dir, 'current.pem'), join(dir, 'kubelet.conf')];
  const user = { 'client-certificate': pem, 'client-key': pem };
  const cluster = { server: 'https://127.0.0.1:1', 'certificate-authority-data': Buffer.from(authority.ca).toString('base64') };
  await writeFile(kubeconfig, JSON.stringify({ 'current-context': 'a', contexts: [{ name: 'a', context: { cluster: 'a', user: 'u' } }], clusters: [{ name: 'a', cluster }], users: [{ name: 'u', user }] })); // prettier-ignore
  const [look, now] = [lookWith(t, kubeconfig), Date.now()];
  const hours = (count: number): number => now + count * 3_600_000;
  const client = async (at: number): Promise<string> => {
    const found = await look({}, at);
    return `${found.get('client-credentials')?.result}, ${found.get('certificate-authority')?.result}`;
  };
  const looks = async (text: string): Promise<string> => {
    await writeFile(pem, text);
    return (await look()).get('client-credentials')?.detail ?? '';
  };
  assert.match(await looks(''), /there is no certificate in/);
  assert.match(await looks(cert + other.key), /the client key in .* does not belong to the client certificate/);
  assert.match(await looks(cert + key), /is valid until/);
  assert.deepEqual(await Promise.all([now, hours(23), hours(25), hours(45), hours(49), hours(-24)].map(client)), ['ok, ok', 'warning, ok', 'failed, ok', 'failed, warning', 'failed, failed', 'failed, failed']); // prettier-ignore
  assert.match((await look({ kubeconfig: '/nowhere/kubelet.conf' })).get('kubeconfig')?.detail ?? '', /nowhere\/kubelet\.conf/);
});
