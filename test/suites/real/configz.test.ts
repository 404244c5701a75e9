import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { differingFields, parseKubeletVersion, readConfigz } from '../../../agent/config/config.ts';
import type { JsonObject } from '../../../agent/config/contract.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { kubeletAccess } from '../../../kube/client/access.ts';
import { eventually } from '../../support/eventually.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { protoOfRelease, startFakeRuntime } from '../../support/real-parts/fake-runtime.ts';
import { freePorts } from '../../support/real-parts/free-ports.ts';
import { givenRelease, releaseParts } from '../../support/real-parts/release.ts';
import { ReleaseKubelet, releaseKubeletConfig } from '../../support/real-parts/release-kubelet.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { withRelease } from './suite.ts';

const NODE = 'configz-0';

await withRelease('/configz of a kubelet that authorizes', ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver', 'kubectl'], () => {
  test('is for those who may get nodes/configz of this node, and is what the effective file gives', async (t) => {
    const release = await givenRelease();
    const { kubelet: program, 'cri-v1.proto': proto } = await releaseParts(['kubelet', 'cri-v1.proto']);
    const dir = await tempDir(t);
    await using ends = new AsyncDisposableStack();
    const plane = await startControlPlane({ release, nodes: [NODE] });
    ends.defer(() => plane.stop());
    const socket = join(dir, 'cri.sock');
    const runtime = await startFakeRuntime({ socket, api: 'v1', proto: protoOfRelease(proto) });
    ends.defer(() => runtime.close());
    const [port = 0, healthzPort = 0] = await freePorts(2);
    const [clientCAFile, kubeconfig] = [join(dir, 'ca.crt'), join(dir, 'kubeconfig')];
    await writeFile(clientCAFile, plane.ca);
    await writeFile(kubeconfig, plane.kubeconfig(plane.nodeToken(NODE)));
    const config = releaseKubeletConfig(socket, {
      port,
      healthzPort,
      maxPods: 99,
      authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile } },
      authorization: { mode: 'Webhook', webhook: { cacheAuthorizedTTL: '1s', cacheUnauthorizedTTL: '1s' } },
    });
    const kubelet = await ReleaseKubelet.start({ program, dir, name: NODE, config, kubeconfig });
    ends.defer(() => kubelet.stop());

    const { cert, key } = await plane.clientCertificate(`system:node:${NODE}`, ['system:nodes']);
    const access = {
      origin: 'test',
      server: plane.url,
      ca: { data: plane.ca },
      clientCertificate: { data: cert },
      clientKey: { data: key },
    };
    const client = createClient(kubeletAccess(access, `https://127.0.0.1:${port}/configz`, NODE));
    ends.defer(() => client.close());
    const ask = (): Promise<unknown> => client.raw('GET', '/configz').catch((error: unknown) => error);
    await eventually('a kubelet that refuses', async () => {
      if (kubelet.end) throw new Error(kubelet.lastWords());
      return /403|Forbidden/.test(String(await ask())) || undefined;
    });

    const admin = adminClient(plane);
    ends.defer(() => admin.close());
    const group = 'rbac.authorization.k8s.io';
    const metadata = { name: 'dkc-agent-configz' };
    const rules = [{ apiGroups: [''], resources: ['nodes/configz'], verbs: ['get'], resourceNames: [NODE] }];
    const subjects = [{ kind: 'User', apiGroup: group, name: `system:node:${NODE}` }];
    const roleRef = { kind: 'ClusterRole', apiGroup: group, name: metadata.name };
    for (const [path, body] of [
      ['clusterroles', { metadata, rules }],
      ['clusterrolebindings', { metadata, subjects, roleRef }],
    ] as const)
      await admin.raw('POST', `/apis/${group}/v1/${path}`, { body });

    const text = await eventually('a kubelet that answers', async () => {
      const answer = await ask();
      return answer instanceof Error ? undefined : JSON.stringify(answer);
    });
    const version = parseKubeletVersion(release.version);
    const read = readConfigz(text, version);
    assert.ok(read.ok, text);
    // The harness has it say more.
    const question = { dynamic: null, merge: 'replace', args: ['-v=2'], version, running: read.config } as const;
    assert.deepEqual(differingFields({ ...question, local: config as JsonObject }), []);
    assert.deepEqual(differingFields({ ...question, local: { ...(config as JsonObject), maxPods: 98 } }), ['maxPods']);
  });
});
