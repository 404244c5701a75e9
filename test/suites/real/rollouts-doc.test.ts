import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { realClock } from '../../../base/clock.ts';
import { silentLog } from '../../../base/log.ts';
import { KEPT_MS } from '../../../controllers/rollout/gates/check.ts';
import { rollouts, type NodeConfigRollout, type RolloutStatus } from '../../../controllers/rollout/types.ts';
import { eventually } from '../../support/eventually.ts';
import { LightAgents } from '../../support/fleet/light-agents.ts';
import { HollowNodes } from '../../support/hollow/hollow-nodes.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane } from '../../support/real-parts/control-plane.ts';
import { exporter, onPath, Prometheus } from '../../support/real-parts/prometheus.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { startProcess } from './cluster/subject.ts';
import { play } from '../../support/played.ts';
import { withRelease } from './suite.ts';

const MAIN = new URL('../../../cli/main.ts', import.meta.url).pathname;
/** As the page calls it. */
const SHOWN = 'prometheus.monitoring:9090';
const CONTROLLER = { token: 'controllertoken', user: 'system:serviceaccount:dkc-system:dkc-rollout-controller', groups: [] };
const FILES = {
  'kubelet.yaml': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 120\n',
  'web.yaml': `apiVersion: dkc.dev/v1alpha1
kind: NodeConfigRollout
metadata:
  name: web
spec:
  nodeSelector: { matchLabels: { pool: web } }
  configMap: { namespace: dkc-system, name: web, kubeletConfigKey: kubelet }
  steps:
    - { nodes: 1, approve: true }
    - { nodes: 50%, hold: 5s }
    - { nodes: 100% }
  maxUnavailable: 3
  gates:
    - name: no-5xx
      prometheus:
        url: http://${SHOWN}
        query: shop_errors > 0
`,
};

await withRelease('docs/rollouts.md', ['etcd', 'kube-apiserver', 'kubectl'], () => {
  test('shows what its commands print, on a real API server and a real Prometheus; RECORD=1 writes it', async (t) => {
    const program = await onPath('prometheus');
    if (program === undefined && process.env['CI'] !== 'true') return t.skip("the gate needs Debian's package prometheus");
    await using ends = new AsyncDisposableStack();
    const home = await mkdtemp(join(tmpdir(), 'dkc-page-'));
    ends.defer(() => rm(home, { recursive: true, force: true }));
    const release = await givenRelease();
    const plane = await startControlPlane({ release, extraTokens: [CONTROLLER] });
    ends.defer(() => plane.stop());
    const client = adminClient(plane);
    ends.defer(() => client.close());
    const shop = await startShop(program ?? '');
    ends.defer(() => shop.stop());

    const { kubectl } = await release.programs(['kubectl']);
    await mkdir(join(home, 'bin'));
    await writeFile(join(home, 'bin/dkc'), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`);
    await chmod(join(home, 'bin/dkc'), 0o755);
    await writeFile(join(home, 'kubeconfig'), plane.kubeconfig());
    for (const [name, text] of Object.entries(FILES)) await writeFile(join(home, name), text.replaceAll(SHOWN, shop.address));
    const path = `${join(home, 'bin')}:${dirname(kubectl ?? '')}:/usr/bin:/bin`;
    const shell = { cwd: home, env: { PATH: path, HOME: home, KUBECONFIG: join(home, 'kubeconfig'), LC_ALL: 'C.UTF-8' } };

    const agents = new LightAgents(client, realClock, { active: 300, trial: 1_500, condemned: 1_500 });
    ends.defer(() => agents.stop());
    const ending = new AbortController();
    ends.defer(() => ending.abort());
    const status = async (): Promise<RolloutStatus> => (await client.get<NodeConfigRollout>(rollouts, { name: 'web' })).status ?? {};
    const until = async (word: string): Promise<unknown> =>
      eventually(word, async () => { const { phase, waitsFor } = await status(); return phase === word || waitsFor === word; }, 120_000, async () => JSON.stringify(await status())); // prettier-ignore

    /** What goes on beside the commands, by the words of the page. */
    const events: Record<string, (word: string) => Promise<unknown>> = {
      fleet: async () => {
        const hollow = new HollowNodes({ client, clock: realClock, log: silentLog, heartbeatMs: 1_000 });
        void hollow.run(ending.signal);
        void agents.run();
        const names = 'abcdefghij'.split('').map((letter) => `node-${letter}`);
        await hollow.add(
          names.map((name, at) => ({ name, labels: { pool: at < 8 ? 'web' : 'batch' }, kubeletVersion: `v${release.version}` })),
        );
        for (const name of names) await agents.join(name);
      },
      controller: async () => {
        const theirs = { ca: plane.ca, kubeconfig: () => plane.kubeconfig(CONTROLLER.token) };
        const controller = await startProcess('dkc', theirs, async ({ kubeconfig, port }) => ({
          program: process.execPath,
          args: [MAIN, 'controllers', 'run', '--controllers=rollout', `--kubeconfig=${kubeconfig}`, '--leader-elect-resource-namespace=dkc-system', '--leader-elect-resource-name=dkc-rollout', `--metrics-bind-address=127.0.0.1:${port}`, '--page-bind-address='], // prettier-ignore
          ready: { url: `http://127.0.0.1:${port}/readyz` },
        }));
        ends.use(controller);
      },
      until,
      'errors:': async (count) => {
        await shop.errors(Number(count));
        // The controller may have asked a moment ago, and goes on by that answer for so long. Nothing tells when it is over.
        if (count !== '0') await realClock.sleep(KEPT_MS);
      },
      'kubelets die of maxPods': async (value) => {
        agents.bad = (text) => (text.includes(`maxPods: ${value}\n`) ? 'condemns' : undefined);
      },
    };
    const happen = async (words: string): Promise<void> => {
      const [name, event] = Object.entries(events).find(([key]) => words.startsWith(key)) ?? assert.fail(`nothing is called ${words}`);
      await event(words.slice(name.length).trim());
    };

    await play('test/suites/real/rollouts-doc.test.ts', 'docs/rollouts.md', { shell, happen, words: [[SHOWN, shop.address]] });
  });
});

/** A Prometheus that scrapes a shop, whose errors a test sets. */
async function startShop(program: string): Promise<{ address: string; errors(count: number): Promise<void>; stop(): Promise<void> }> {
  let errors = 0;
  const served = await exporter(() => `shop_errors ${errors}\n`);
  const prometheus = await Prometheus.start(program, { shop: served.target }, { groups: [] });
  return {
    address: new URL(prometheus.url).host,
    async errors(count) {
      errors = count;
      await eventually('Prometheus has it', async () => (await prometheus.query('shop_errors'))[0]?.value[1] === String(count));
    },
    async stop() {
      await prometheus.stop();
      served.close();
    },
  };
}
