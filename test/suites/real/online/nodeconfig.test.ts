import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, stringify } from 'yaml';
import { renewToken } from '../../../../agent/run/account-token.ts';
import { nodeConfigs, type NodeConfigStatus } from '../../../../agent/status/node-config.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import { realDisk } from '../../../../base/disk.ts';
import { manifests } from '../../../../deploy/manifests.ts';
import { createClient } from '../../../../kube/client/http-client.ts';
import { kubeconfigSource } from '../../../../kube/client/access.ts';
import { ApiHttp } from '../../../support/api-http.ts';
import { runCli } from '../../../support/cli-context.ts';
import { apply } from '../../../support/contracts/node-rights.ts';
import { eventually } from '../../../support/eventually.ts';
import { RealTime } from '../../../support/real-time.ts';
import { startControlPlane, type ControlPlane } from '../../../support/real-parts/control-plane.ts';
import { releases } from '../../../support/real-parts/release.ts';
import { Bell } from '../../embedded/online/bell.ts';
import { config, HostedAgent } from '../../embedded/online/hosted-agent.ts';
import { ofRelease } from '../suite.ts';

const NODE = 'node-1';
const NC = '/apis/dkc.dev/v1alpha1/nodeconfigs';
const CONFIG_MAPS = '/api/v1/namespaces/dkc-system/configmaps';
const CRD = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeconfigs.dkc.dev';
const ACCOUNT_TOKEN = `/api/v1/namespaces/dkc-system/serviceaccounts/${NODE}/token`;

/** The agent's whole story where the server keeps nothing in the Node, with the rights of the node's own ServiceAccount. */
for (const release of await releases())
  await ofRelease(release, `the agent on NodeConfig, kube-apiserver ${release.version}`, ['etcd', 'kube-apiserver'], () => {
    let plane: ControlPlane;
    let admin: ApiHttp;
    let agent: HostedAgent;
    const bell = new Bell();
    const options = { release: release.minor, credentials: 'service-account' as const, nodes: [NODE], listsPods: true };
    before(async () => {
      plane = await startControlPlane({ release, dynamicKubeletConfig: false });
      admin = new ApiHttp({ url: plane.url, ca: plane.ca, token: plane.adminToken });
      await apply(admin, manifests({ ...options, only: 'rbac' }));
      await apply(admin, [{ apiVersion: 'v1', kind: 'Node', metadata: { name: NODE } }]);
      await admin.patch(`/api/v1/nodes/${NODE}/status`, { status: { nodeInfo: { kubeletVersion: 'v1.30.1' } } });
      // Waits between looks for the definition are a minute.
      agent = await HostedAgent.standing(bell, { nodeName: NODE, trialDuration: 500, clock: new RealTime({ maxSleepMs: 500 }) });
      const tokenFile = join(agent.dir, 'token');
      const { json } = await admin.post(ACCOUNT_TOKEN, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} });
      await writeFile(tokenFile, (json['status'] as unknown as { token: string }).token);
      const users = [{ name: 'user', user: { tokenFile } }];
      await writeFile(agent.options.kubeconfig ?? '', stringify({ ...(parse(plane.kubeconfig()) as object), users }));
      agent.start();
    });
    after(async () => {
      await agent?.[Symbol.asyncDispose]();
      await plane?.stop();
    });

    const dkc = async (...argv: string[]) => {
      const connect = async () => createClient({ server: plane.url, origin: 'test', token: plane.adminToken, ca: { data: plane.ca } });
      const ran = await runCli(argv, { connect });
      assert.equal(ran.code, 0, `${argv.join(' ')}: ${ran.stderr}`);
      return ran.stdout;
    };
    const configMap = async (name: string, maxPods: number) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { kubelet: config({ maxPods }) } };
      const made = await admin.patch(`${CONFIG_MAPS}/${name}?fieldManager=test`, body, { type: 'application/apply-patch+yaml' });
      assert.ok(made.code < 300, made.text);
    };
    const status = async (): Promise<NodeConfigStatus> => (await admin.get(`${NC}/${NODE}`)).json['status'] ?? {};
    /** Waits for `Synced Healthy Trusted Drifted`, each by its first letter, and the config in use. */
    const conditions = (letters: string, active: string | undefined) =>
      eventually(
        `${letters} with ${active}`,
        async () => {
          const seen = await status();
          const word = (seen.conditions ?? []).map((one) => one.status[0]).join('');
          // A trial that is over may stand there until the next watch event.
          const isPending = seen.conditions?.[0]?.reason === 'Pending';
          return word === letters && seen.active?.configMap.name === active && !seen.trial && !isPending ? seen : undefined;
        },
        60_000,
        async () => `${JSON.stringify(await status())}\n${agent.tail()}`,
      );
    const event = (text: string) => eventually(`an event: ${text}`, async () => (await admin.get('/api/v1/namespaces/default/events')).text.includes(text)); // prettier-ignore

    test('without the definition it says what is missing, and notices when it comes', async () => {
      const { text } = await agent.says('no object can assign a configuration to this node: the API server (v1.');
      assert.match(text, /drops Node\.spec\.configSource and does not serve nodeconfigs\.dkc\.dev; run: dkc deploy manifests --only=crds/);
      await event('KubeletConfigUnassignable');
      await apply(admin, manifests({ ...options, only: 'crds' }));
      const hasNone = ({ fields }: (typeof agent.said)[number]): boolean => String(fields['why']).includes('has no NodeConfig node-1');
      await eventually('the definition', async () => agent.said.some(hasNone));
      assert.deepEqual([agent.starts, await agent.effectiveField('maxPods')], [1, '110']);
    });

    test('a spec that breaks a rule is rejected by the server', async () => {
      const spec = { configMap: { namespace: 'dkc-system', name: 'web', kubeletConfigKey: '..x', uid: 'u' } };
      const answer = await admin.post(NC, { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name: NODE }, spec });
      assert.equal(answer.code, 422, answer.text);
      const hasCel = release.minor >= 28;
      assert.match(answer.text, hasCel ? /spec\.configMap\.uid: Forbidden: uid must not be set in spec/ : /spec\.configMap\.uid/);
      assert.match(answer.text, hasCel ? /must not start with '\.\.'/ : /spec\.configMap\.kubeletConfigKey/);
    });

    test('dkc assign gives it a config, which it comes to trust', async () => {
      await configMap('web', 120);
      await dkc('assign', NODE, '--configmap=dkc-system/web', '--key=kubelet');
      const seen = await conditions('TUTF', 'web');
      assert.equal(await agent.effectiveField('maxPods'), '120');
      const { assigned, lastKnownGood, error, kubeletVersion, observedGeneration } = seen;
      assert.deepEqual([lastKnownGood, error, kubeletVersion, observedGeneration], [assigned, undefined, 'v1.30.1', 1]);
      await event('KubeletConfigTrusted');
      assert.match(await dkc('nodes'), /node-1 +trusted/);
    });

    test('its token is renewed with its own rights, and the new one is used at once', async () => {
      const path = join(agent.dir, 'token');
      const before = await readFile(path, 'utf8');
      const stop = new AbortController();
      // Four fifths of the hour are over.
      const clock = { ...realClock, now: () => realClock.now() + 3_000_000 };
      const client = createClient(kubeconfigSource(agent.options.kubeconfig ?? ''));
      const running = renewToken(path, { client, disk: realDisk, clock, random: () => 0, log: silentLog }, stop.signal);
      await eventually('another token', async () => (await readFile(path, 'utf8')) !== before);
      stop.abort();
      await running;
      assert.equal((await client.get(nodeConfigs, { name: NODE })).metadata.name, NODE);
      await client.close();
    });

    test('an edit is followed; what is invalid is refused, and named', async () => {
      await configMap('web', 121);
      await eventually('the edit', async () => (await agent.effectiveField('maxPods')) === '121');
      await configMap('bad', -1);
      await dkc('assign', NODE, '--configmap=dkc-system/bad', '--key=kubelet');
      const seen = await conditions('FUTF', 'web');
      assert.equal(seen.error, 'failed to validate config, see Kubelet log for details');
      await dkc('assign', NODE, '--configmap=dkc-system/web', '--key=kubelet');
      await conditions('TUTF', 'web');
    });

    test('its definition is deleted and comes back: nothing restarts, and a new assignment of the same is no change', async () => {
      const starts = agent.starts;
      assert.equal((await admin.delete(CRD)).code, 200);
      await eventually('it says so', async () => (await agent.activeRecord())?.why.includes('does not serve nodeconfigs.dkc.dev'));
      await apply(admin, manifests({ ...options, only: 'crds' }));
      await eventually('it is back', async () => (await agent.activeRecord())?.why.includes('has no NodeConfig node-1'));
      await dkc('assign', NODE, '--configmap=dkc-system/web', '--key=kubelet');
      await conditions('TUTF', 'web');
      assert.deepEqual([agent.starts, await agent.effectiveField('maxPods')], [starts, '121']);
    });

    test('the API server restarts; then the assignment is cleared', async () => {
      await plane.restartApiServer();
      await dkc('unassign', NODE);
      await conditions('TUTF', undefined);
      assert.equal(await agent.effectiveField('maxPods'), '110');
      assert.match(await dkc('nodes'), /node-1 +local/);
    });
  });
