import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { type ClusterAccess, kubeletAccess } from '../../../../kube/client/access.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { makeAuthority } from '../../../support/certificates.ts';

test('a client certificate is shown to any kubelet, a token to none that the authority of the cluster did not certify as this node', async (t) => {
  const [cluster, own] = await Promise.all([makeAuthority(), makeAuthority()]);
  t.after(() => Promise.all([cluster.remove(), own.remove()]));
  const [selfSigned, certified] = await Promise.all([own.server(), cluster.server('DNS:node-a')]);
  const { cert, key } = await cluster.client('system:node:node-a', ['system:nodes']);
  const seen: string[] = [];
  /** A kubelet with this serving certificate; it notes the credentials of those who ask. */
  const kubelet = async (serving: typeof selfSigned): Promise<string> => {
    const server = createServer({ ...serving, ca: cluster.ca, requestCert: true, rejectUnauthorized: false }, (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      seen.push(`${request.url} ${subject?.CN} ${request.headers.authorization}`);
      response.setHeader('content-type', 'application/json');
      response.end('{"kubeletconfig":{}}');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => (server.closeAllConnections(), server.close()));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}/configz`;
  };
  const ask = async (access: Partial<ClusterAccess>, url: string): Promise<unknown> => {
    const base = { origin: 'test', server: 'https://api.example:6443', proxy: 'http://proxy.example:3128', ca: { data: cluster.ca }, tlsServerName: 'api' };
    const client = createClient(kubeletAccess({ ...base, ...access }, url, 'node-a'));
    try {
      return await client.raw('GET', new URL(url).pathname);
    } finally {
      await client.close();
    }
  }; // prettier-ignore
  const [signsItself, isNode] = [await kubelet(selfSigned), await kubelet(certified)];
  const certificate = { clientCertificate: { data: cert }, clientKey: { data: key } };

  assert.deepEqual(await ask(certificate, signsItself), { kubeletconfig: {} });
  await assert.rejects(ask({ token: 'secret' }, signsItself), /certificate/);
  await assert.rejects(ask({ ...certificate, token: 'secret' }, signsItself), /certificate/);
  assert.deepEqual(await ask({ token: 'secret' }, isNode), { kubeletconfig: {} });
  assert.deepEqual(seen, ['/configz system:node:node-a undefined', '/configz undefined Bearer secret']);
});
