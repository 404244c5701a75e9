import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { runCli } from '../cli-context.ts';
import { Kubectl } from '../kubectl.ts';
import { goodSpec, rolloutRows } from './rollout-rows.ts';

export interface ManifestsHome {
  /** Path of a kubectl that fits the server. */
  kubectl: string;
  /** Of an administrator. */
  kubeconfig: string;
  /** `1.36`. */
  version: string;
  /** What a definition says of a namespace that is none, as a pattern or in CEL; undefined: CEL is not evaluated. */
  refuses: RegExp | undefined;
  stop(): Promise<void>;
}

/** kubectl applies what `dkc deploy manifests` prints, and shows and awaits NodeConfigs. */
export function manifestsContract(name: string, start: () => Promise<ManifestsHome>): void {
  describe(name, () => {
    let home: ManifestsHome;
    let kubectl: Kubectl;
    before(async () => {
      home = await start();
      kubectl = await Kubectl.start(home.kubectl, home.kubeconfig);
    });
    after(async () => {
      await kubectl?.stop();
      await home?.stop();
    });

    for (const flags of ['', '--only=rbac --nodes=node-a', '--only=rbac --nodes=node-a --credentials=service-account --list-pods'])
      test(`deploy manifests ${flags} is applied, and again without a change`, async () => {
        const given = flags.split(' ').filter((flag) => flag !== '');
        const { stdout } = await runCli(['deploy', 'manifests', `--kubernetes-version=${home.version}`, ...given]);
        for (const line of (await kubectl.good('apply -f -', stdout)).trimEnd().split('\n'))
          assert.match(line, / (created|configured|unchanged)$/);
        for (const line of (await kubectl.good('apply -f -', stdout)).trimEnd().split('\n')) assert.match(line, / unchanged$/);
      });

    test('a NodeConfigRollout that the controller could not use is refused where it is applied, and the message says why', async () => {
      if (home.refuses === undefined) return;
      const hasCel = Number(home.version.split('.')[1]) >= 28;
      await kubectl.good('wait --for=condition=Established crd/nodeconfigrollouts.dkc.dev --timeout=60s');
      const named = rolloutRows.map((row, at) => ({ ...row, name: `row-${at}` }));
      const items = named.map(({ spec, name: of }) => ({ apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfigRollout', metadata: { name: of }, spec: { ...goodSpec, ...spec } })); // prettier-ignore
      const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
      const { stderr } = await kubectl.run(['apply', '--dry-run=server', '-f', '-'], list);
      const said = stderr.split(/^(?=The NodeConfigRollout)/m);
      const wrong = named.filter(({ name: of, refused, words = '', isCel }) => {
        const says = said.find((text) => text.includes(`"${of}" is invalid`));
        if (refused === undefined || (isCel === true && !hasCel)) return says !== undefined;
        // Servers of 1.20 name no index.
        const field = hasCel ? refused : refused.replaceAll(/\[\d+\]/g, '');
        return says?.includes(field) !== true || (hasCel && !says.includes(words));
      });
      assert.deepEqual(wrong, [], stderr);
    });

    test('a NodeConfig is shown with its columns, and awaited by its conditions', async () => {
      await kubectl.good('wait --for=condition=Established crd/nodeconfigs.dkc.dev --timeout=60s');
      const configMap = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
      const nodeConfig = { apiVersion: 'dkc.dev/v1alpha1', kind: 'NodeConfig', metadata: { name: 'node-a' }, spec: { configMap } };
      await kubectl.good('apply -f -', JSON.stringify(nodeConfig));
      const bad = { ...nodeConfig, metadata: { name: 'node-b' }, spec: { configMap: { ...configMap, namespace: 'A B' } } };
      const { code, stderr } = await kubectl.run(['apply', '-f', '-'], JSON.stringify(bad));
      assert.equal(code, home.refuses ? 1 : 0);
      assert.match(stderr, home.refuses ?? /^$/);
      const waiting = kubectl.good('wait --for=condition=Trusted nodeconfig/node-a --timeout=100s');
      const source = { configMap: { ...configMap, uid: 'u', resourceVersion: '7' } };
      const at = '2026-01-01T00:00:00Z';
      const condition = (type: string) => ({ type, status: 'True', reason: 'TrialPassed', message: 'm', observedGeneration: 1, lastTransitionTime: at }); // prettier-ignore
      const status = { observedGeneration: 1, assigned: source, active: source, lastKnownGood: source, conditions: ['Synced', 'Healthy', 'Trusted'].map(condition) }; // prettier-ignore
      const path = '/apis/dkc.dev/v1alpha1/nodeconfigs/node-a/status';
      const { metadata } = JSON.parse(await kubectl.good(`get --raw ${path}`)) as { metadata: object };
      await kubectl.good(`replace --raw ${path} -f -`, JSON.stringify({ ...nodeConfig, metadata, status }));
      assert.equal(await waiting, 'nodeconfig.dkc.dev/node-a condition met\n');
      const [titles = '', line = ''] = (await kubectl.good('get nc')).split('\n');
      assert.match(titles, /^NAME +ASSIGNED +ACTIVE +TRUSTED +HEALTHY +ERROR +AGE$/);
      assert.match(line, /^node-a +web +web +True +True +\S+$/);
    });
  });
}
