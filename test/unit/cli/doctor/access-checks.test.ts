import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { check, known, type Row } from './rows.ts';
import { credentialProblem } from '../../../../cli/doctor/inspect/credentials.ts';
import { makeAuthority } from '../../../support/certificates.ts';
import { credentialChecks, nodeHints, type CredentialFacts } from '../../../../cli/doctor/node/credentials.ts';
import { permissionChecks, type PermissionFacts, type Trusted } from '../../../../cli/doctor/node/files.ts';
import { portChecks, type PortFacts } from '../../../../cli/doctor/node/ports.ts';
import { serverChecks, type ServerFacts } from '../../../../cli/doctor/node/server.ts';

const listening = (port: number, isOwn: boolean, address = '127.0.0.1') => known([{ port, isOwn, address }]);
const ports: PortFacts = {
  kubeletUnit: 'kubelet.service',
  kubelet: known([{ field: 'port', address: '0.0.0.0', port: 10_250 }, { field: 'healthzPort', address: '127.0.0.1', port: 10_248 }]),
  listening: known([{ address: '::', port: 10_250, isOwn: true }, { address: '127.0.0.1', port: 10_248, isOwn: true }, { address: '::', port: 22, isOwn: false }]),
  healthz: 'http://127.0.0.1:10248/healthz',
  health: known({ healthy: true, detail: 'http://127.0.0.1:10248/healthz answered 200' }),
  metrics: '127.0.0.1:10460',
  listeningOfAgent: listening(10_460, true),
}; // prettier-ignore
const sick = known({ healthy: false, detail: 'ECONNREFUSED' });
const portRows: (Row & { facts: Partial<PortFacts> })[] = [
  { check: 'kubelet-ports', where: 'another program has one', facts: { listening: listening(10_248, false) }, is: 'failed', says: 'another program listens on 10248 (healthzPort)', todo: 'ss -ltnp' },
  { check: 'kubelet-health', where: 'it is not', facts: { health: sick }, is: 'failed', says: 'ECONNREFUSED', todo: 'journalctl -u kubelet.service -e' },
  { check: 'metrics-port', where: 'another program has it', facts: { listeningOfAgent: listening(10_460, false) }, is: 'warning', says: 'another program', todo: 'metricsBindAddress' },
  { check: 'metrics-port', where: 'it is the port of a program of Kubernetes', facts: { metrics: ':10257' }, is: 'warning', says: 'kube-controller-manager', todo: 'metricsBindAddress' },
]; // prettier-ignore
check(portChecks, ports, portRows);

const at = (path: string, over: Partial<Trusted> = {}): Trusted => ({
  path,
  uid: 0,
  gid: 0,
  mode: 0o600,
  isSecret: false,
  isDir: false,
  ...over,
});
const trusted = (...some: Trusted[]): Partial<PermissionFacts> => ({ trusted: known(some) });
const permissionRows: (Row & { facts: Partial<PermissionFacts> })[] = [
  { check: 'writable-by-others', where: "root's group may", facts: trusted(at('/x', { mode: 0o664 })), is: 'ok', says: 'only root can write them: 1 path checked' },
  { check: 'writable-by-others', where: 'a group may', facts: trusted(at('/x', { mode: 0o664, gid: 100 })), is: 'failed', says: '/x has mode 0664', todo: 'chmod go-w' },
  { check: 'writable-by-others', where: 'somebody else owns one', facts: trusted(at('/x', { uid: 1000 })), is: 'failed', says: '/x is owned by uid 1000', todo: 'chown root' },
  { check: 'readable-by-others', where: 'root alone may', facts: trusted(at('/k', { isSecret: true }), at('/c', { mode: 0o644 })), is: 'ok', says: 'only root can read them: 1 path checked' },
  { check: 'readable-by-others', where: 'everybody may', facts: trusted(at('/k', { isSecret: true, mode: 0o644 })), is: 'warning', says: '/k has mode 0644', todo: 'chmod go-rwx' },
]; // prettier-ignore
check(permissionChecks, { trusted: known([at('/etc/dkc/agent.yaml')]) }, permissionRows);

const now = Date.parse('2026-03-01T00:00:00Z');
const days = (count: number): number => now + count * 24 * 3600 * 1000;
const file = { from: '/pki/current.pem', isEmbedded: false, fitsKey: true };
const cert = (notBefore: number, notAfter: number, over: Partial<typeof file> = {}): Partial<CredentialFacts> => ({ certificate: known({ ...file, notBefore: days(notBefore), notAfter: days(notAfter), ...over }) }); // prettier-ignore
const token = (notAfter: number | null): Partial<CredentialFacts> => ({ certificate: known('none'), token: known({ from: '/var/lib/dkc/token', isEmbedded: false, notBefore: days(-1), notAfter: notAfter === null ? null : days(notAfter) }) }); // prettier-ignore
const credentials: CredentialFacts = { kubeconfig: '/etc/kubernetes/kubelet.conf', problem: known(undefined), token: known('none'), authority: known({ ...file, from: '/ca.crt', notBefore: days(-300), notAfter: days(3000) }), now, certificate: known('none'), ...cert(-100, 265) }; // prettier-ignore
const authority = (notAfter: number): Partial<CredentialFacts> => ({ authority: known({ from: '/ca.crt', isEmbedded: false, notBefore: days(-3650), notAfter: days(notAfter) }) }); // prettier-ignore
const credentialRows: (Row & { facts: Partial<CredentialFacts> })[] = [
  { check: 'kubeconfig', where: 'none is set', facts: { kubeconfig: undefined }, is: 'warning', says: 'receives no assignments', todo: 'set kubeconfig' },
  { check: 'kubeconfig', where: 'it cannot be used', facts: { problem: known('it has no current-context') }, is: 'failed', says: 'current-context', todo: 'kubeadm join' },
  { check: 'client-credentials', where: 'nobody renewed the certificate', facts: { ...cert(-359, 6), kubeletUnit: 'kubelet.service' }, is: 'warning', says: 'in 6 days', todo: 'systemctl restart kubelet.service' },
  { check: 'client-credentials', where: 'the certificate is of tomorrow', facts: cert(1, 300), is: 'failed', says: 'is the clock of this machine right', todo: 'timedatectl set-ntp true' },
  { check: 'client-credentials', where: 'the key is of another one', facts: cert(-1, 300, { fitsKey: false }), is: 'failed', says: 'does not belong to the client certificate', todo: 'systemctl restart kubelet' },
  { check: 'client-credentials', where: 'the certificate is part of the kubeconfig', facts: cert(-1, 300, { isEmbedded: true }), is: 'warning', says: 'is embedded in the kubeconfig', todo: 'kubelet-client-current.pem' },
  { check: 'client-credentials', where: 'the file that the kubelet renews is gone', facts: { certificate: known({ problem: 'ENOENT' }) }, is: 'failed', says: 'ENOENT', todo: 'systemctl restart kubelet' },
  { check: 'client-credentials', where: 'the token is good', facts: token(5), is: 'ok', says: 'the token in /var/lib/dkc/token is valid until' },
  { check: 'client-credentials', where: 'the token has expired', facts: token(-0.1), is: 'failed', says: 'the token in /var/lib/dkc/token expired', todo: 'create token' },
  { check: 'certificate-authority', where: 'it ends', facts: authority(3), is: 'warning', says: 'in 3 days', todo: 'kubeadm certs check-expiration' },
  { check: 'certificate-authority', where: 'it cannot be read', facts: { authority: known({ problem: 'there is no certificate in /ca.crt' }) }, is: 'failed', says: '/ca.crt', todo: 'new certificate authority' },
]; // prettier-ignore
check(credentialChecks(nodeHints), credentials, credentialRows);

const serves = { version: 'v1.36.3', servesNodeConfigs: true, hasConfigSource: false };
const right = { verb: 'get', group: '', resource: 'configmaps', namespace: 'dkc-system', vital: true };
const ahead = (aheadMs: number) => ({ hello: known({ aheadMs, certificate: { notBefore: days(-10), notAfter: days(355) } }) });
const server: ServerFacts = { server: known(serves), assignment: 'auto', nodeName: 'node-a', node: known('found'), missing: known([]), ...ahead(300), now, isSynchronized: known(true), kubelet: known('v1.36.3') }; // prettier-ignore
const certificate = (notBefore: number, notAfter: number): Partial<ServerFacts> => ({
  hello: known({ aheadMs: 0, certificate: { notBefore: days(notBefore), notAfter: days(notAfter) } }),
});
const away: Partial<ServerFacts> = { server: known({ problem: 'Cannot GET /version: ECONNREFUSED' }) };
const serverRows: (Row & { facts: Partial<ServerFacts> })[] = [
  { check: 'api-server', where: 'it is away', facts: away, is: 'failed', says: 'ECONNREFUSED', todo: 'its address in the kubeconfig, and the network' },
  { check: 'node-object', where: 'it is not', facts: { node: known('missing') }, is: 'failed', says: 'Node node-a does not exist', todo: 'set nodeName' },
  { check: 'node-object', where: 'it may not be read', facts: { node: known({ problem: '403 Forbidden' }) }, is: 'failed', says: '403', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'assignment', where: 'an old server has configSource', facts: { server: known({ version: 'v1.20.2', servesNodeConfigs: false, hasConfigSource: true }) }, is: 'ok', says: 'Node.spec.configSource' },
  { check: 'assignment', where: 'a new server has no definition', facts: { server: known({ ...serves, servesNodeConfigs: false }) }, is: 'failed', says: 'nothing can be assigned', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'assignment', where: 'the settings want what a new server drops', facts: { assignment: 'node' }, is: 'failed', says: 'drops Node.spec.configSource', todo: 'remove assignment' },
  { check: 'assignment', where: 'the server is away', facts: away, is: 'skipped', says: 'does not answer' },
  { check: 'agent-rights', where: 'one is missing', facts: { missing: known([right]) }, is: 'failed', says: 'get configmaps in namespace dkc-system', todo: 'dkc deploy manifests | kubectl apply -f -' },
  { check: 'agent-rights', where: 'it works without the one that is missing', facts: { missing: known([{ ...right, resource: 'events', vital: false }]) }, is: 'warning', says: 'get events', todo: 'dkc deploy manifests' },
  { check: 'clock', where: 'it is off by a minute', facts: ahead(60_000), is: 'warning', says: '60 s ahead', todo: 'timedatectl set-ntp true' },
  { check: 'clock', where: 'it is off by an hour', facts: ahead(-3_600_000), is: 'failed', says: '60 min behind', todo: 'timedatectl set-ntp true' },
  { check: 'clock', where: 'nothing keeps it right', facts: { isSynchronized: known(false) }, is: 'warning', says: 'not synchronized', todo: 'timedatectl set-ntp true' },
  { check: 'server-certificate', where: 'it ends', facts: certificate(-360, 5), is: 'warning', says: 'in 5 days', todo: 'kubeadm certs renew apiserver' },
  { check: 'version-skew', where: 'the kubelet is four minors older', facts: { kubelet: known('v1.32.0') }, is: 'warning', says: 'too old', todo: 'upgrade the kubelet' },
  { check: 'version-skew', where: 'the kubelet of an old server is three minors older', facts: { kubelet: known('v1.21.0'), server: known({ ...serves, version: 'v1.24.3' }) }, is: 'warning', says: 'too old', todo: 'upgrade the kubelet' },
  { check: 'version-skew', where: 'the kubelet is newer', facts: { kubelet: known('v1.37.0-rc.1') }, is: 'failed', says: 'newer than the API server', todo: 'upgrade the API server' },
]; // prettier-ignore
check(serverChecks, server, serverRows);

test('a certificate that has expired is what is wrong with the credentials of an agent', async (t) => {
  const authority = await makeAuthority();
  t.after(() => authority.remove());
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const { cert: pem, key } = await authority.client('system:node:a');
  const clusters = [{ name: 'c', cluster: { server: 'https://127.0.0.1', 'certificate-authority-data': base64(authority.ca) } }];
  const users = [{ name: 'u', user: { 'client-certificate-data': base64(pem), 'client-key-data': base64(key) } }];
  const contexts = [{ name: 'x', context: { cluster: 'c', user: 'u' } }];
  const kubeconfig = join(authority.directory, 'kubeconfig');
  await writeFile(kubeconfig, JSON.stringify({ clusters, users, contexts, 'current-context': 'x' }));
  const foundAt = (ms: number) => credentialProblem({ kubeconfig, kubeletUnit: 'k3s.service' }, {}, Date.now() + ms);
  assert.equal(await foundAt(0), undefined);
  assert.match(
    (await foundAt(3 * 24 * 3600_000)) ?? '',
    /^the client certificate in .* expired on .*; have the kubelet renew .* restart k3s\.service/,
  );
});
