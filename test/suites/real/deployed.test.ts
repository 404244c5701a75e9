import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { openMetrics } from '../../../agent/metrics/metrics.ts';
import { rows } from '../../../deploy/board.ts';
import { alertRules } from '../../../deploy/monitoring.ts';
import { codeMetrics } from '../../support/code-metrics.ts';
import { commandsOn, isPlayedBy } from '../../support/docs-ledger.ts';
import { eventually } from '../../support/eventually.ts';
import { buildImage, whyNoImage } from '../../support/image/built.ts';
import { readLayout, unpack, type Image } from '../../support/image/layout.ts';
import { podPlan, type PodSpec } from '../../support/image/pod.ts';
import { Kubectl } from '../../support/kubectl.ts';
import { play } from '../../support/played.ts';
import { startControlPlane, type ControlPlane } from '../../support/real-parts/control-plane.ts';
import { Daemon } from '../../support/real-parts/daemon.ts';
import { exporter, onPath, Prometheus } from '../../support/real-parts/prometheus.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { root } from './cluster/subject.ts';
import { orSkip, withRealParts } from './suite.ts';

const FILE = 'test/suites/real/deployed.test.ts';
const NAMESPACE = 'dkc-system';
const release = await givenRelease();
const prometheusProgram = await onPath('prometheus');
const why = (await whyNoImage()) ?? (prometheusProgram === undefined ? "it needs Debian's package prometheus" : undefined);

/** What `kubectl apply -k deploy/` made, run out of the image as a kubelet would, for there is no container runtime. */
class Deployed {
  readonly kubectl: Kubectl;
  /** Of an admin in the checkout. */
  readonly shell: { cwd: string; env: Record<string, string> };
  readonly #of: { plane: ControlPlane; dir: string; layout: string; image: Image };

  constructor(program: string, kubectl: Kubectl, of: { plane: ControlPlane; dir: string; layout: string; image: Image }) {
    this.kubectl = kubectl;
    this.#of = of;
    const bin = join(of.dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'dkc'), `#!/bin/sh\nexec ${process.execPath} ${join(root, 'cli/main.ts')} "$@"\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${dirname(program)}:/usr/bin:/bin`, HOME: of.dir, KUBECONFIG: join(kubectl.home, 'config'), LC_ALL: 'C.UTF-8' }; // prettier-ignore
    this.shell = { cwd: root, env };
  }

  async get<T>(what: string): Promise<T> {
    return JSON.parse(await this.kubectl.good(`-n ${NAMESPACE} get ${what} -o json`)) as T;
  }

  /** A pod of a Deployment: its ServiceAccount, arguments, files, user and probes. Ready when this returns. */
  async pod(name: string): Promise<{ daemon: Daemon; live: string; port: number }> {
    const { spec } = await this.get<{ spec: { template: { spec: PodSpec & { serviceAccountName: string } } } }>(`deployment ${name}`);
    const pod = spec.template.spec;
    const { plane, dir, layout, image } = this.#of;
    const home = join(dir, name);
    const rootfs = join(home, 'root');
    mkdirSync(rootfs, { recursive: true });
    unpack(layout, image, rootfs);
    const configMaps: Record<string, Record<string, string>> = {};
    for (const { configMap } of pod.volumes ?? []) configMaps[configMap.name] = (await this.get<{ data: Record<string, string> }>(`configmap ${configMap.name}`)).data; // prettier-ignore
    const token = (await this.kubectl.good(`-n ${NAMESPACE} create token ${pod.serviceAccountName}`)).trim();
    const { probes, ...plan } = podPlan(name, pod, { root: rootfs, config: image.config, home, plane, namespace: NAMESPACE, token, configMaps }); // prettier-ignore
    const daemon = new Daemon(plan);
    await daemon.start();
    return { daemon, live: probes.live, port: pod.containers[0]?.ports[0]?.containerPort ?? 0 };
  }
}

const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a', labels: { 'kubernetes.io/os': 'linux' } } };
const readyStatus = (version: string): object => {
  const time = new Date().toISOString();
  const room = { cpu: '4', memory: '8Gi', pods: '110' };
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', message: '', lastHeartbeatTime: time, lastTransitionTime: time };
  return { status: { capacity: room, allocatable: room, conditions: [ready], nodeInfo: { kubeletVersion: `v${version}` } } };
};

/** The metrics of an agent that has used a configuration since a minute ago. */
function agentMetrics(): ReturnType<typeof exporter> {
  const metrics = openMetrics(() => Promise.resolve([{ event: 'assigned' }]));
  const web = { namespace: NAMESPACE, name: 'web', uid: 'u', resourceVersion: '1', kubeletConfigKey: 'kubelet' };
  metrics.picture({ assigned: web, active: web, lastKnownGood: null, error: null });
  metrics.sync(false);
  return exporter(() => metrics.text());
}

const define = (): void => {
  const dir = mkdtempSync(join(tmpdir(), 'dkc-deployed-'));
  const ends: (() => unknown)[] = [() => rmSync(dir, { recursive: true, force: true })];
  let deployed: Deployed;
  before(async () => {
    const layout = join(dir, 'image');
    const manager = commandsOn('docs/controllers.md').find((part) => isPlayedBy(FILE, 'docs/controllers.md', part));
    const controllers = /^kube-controller-manager --controllers=(\S+)$/.exec(manager?.command ?? '')?.[1] ?? assert.fail('no such command');
    const [plane] = await Promise.all([startControlPlane({ release, controllers }), buildImage(layout)]);
    ends.push(() => plane.stop());
    const [image] = readLayout(layout).images;
    assert.ok(image);
    const { kubectl: program } = await release.programs(['kubectl']);
    const kubectl = await Kubectl.start(program, plane.kubeconfig());
    ends.push(() => kubectl.stop());
    deployed = new Deployed(program, kubectl, { plane, dir, layout, image });
  });
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });

  test('with only "kubectl apply -k deploy/" controllers, scheduler and page are up, alerts are evaluated and the board has its data', async (t) => {
    const { kubectl } = deployed;
    const pods = new Map<string, Awaited<ReturnType<Deployed['pod']>>>();
    const happen = async (): Promise<void> => {
      await kubectl.good('apply -f -', JSON.stringify(node));
      for (const name of ['dkc-rollout-controller', 'dkc-scheduler']) {
        const pod = await deployed.pod(name);
        ends.push(() => pod.daemon.stop(5_000));
        pods.set(name, pod);
      }
    };
    await play(FILE, 'docs/deploy.md', { shell: deployed.shell, happen });
    assert.equal(pods.size, 2, 'the page says when they run');
    const log = async (): Promise<string> => (await Promise.all([...pods.values()].map(({ daemon }) => daemon.tail()))).join('\n');

    await t.test('both probes of both answer, and one process holds each lease under its own ServiceAccount', async () => {
      for (const { live } of pods.values()) assert.equal((await fetch(live)).status, 200);
      for (const lease of ['dkc-rollout', 'dkc-scheduler']) {
        const { spec } = await deployed.get<{ spec: { holderIdentity: string } }>(`lease ${lease}`);
        assert.match(spec.holderIdentity, /_/);
      }
      assert.doesNotMatch(await log(), /missing rights|forbidden/);
    });

    await t.test('the scheduler binds a pod that names it, and leaves another alone', async () => {
      await kubectl.good(`patch node node-a --subresource=status -p ${JSON.stringify(readyStatus(release.version))}`);
      const podNamed = (name: string, more: object): string => JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec: { ...more, containers: [{ name: 'main', image: 'app' }] } }); // prettier-ignore
      await kubectl.good('create -f -', podNamed('other', {}));
      await kubectl.good('create -f -', podNamed('ours', { schedulerName: 'dkc-scheduler' }));
      const nodeName = async (name: string): Promise<string> => kubectl.good(`get pod ${name} -o jsonpath={.spec.nodeName}`);
      assert.equal(await eventually('the pod is bound', async () => (await nodeName('ours')) || undefined, 60_000), 'node-a');
      assert.equal(await nodeName('other'), '');
    });

    await t.test('the page is served on loopback, and shows the node', async () => {
      const page = await fetch('http://127.0.0.1:10463/');
      assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
      const shown = async (): Promise<boolean> => (await (await fetch('http://127.0.0.1:10463/fleet.json')).text()).includes('"node-a"');
      await eventually('the page shows the node', shown);
    });

    await t.test('a Prometheus evaluates all rules and answers each query; all that it scrapes is in docs/metrics.md', async () => {
      const agent = await agentMetrics();
      ends.push(() => agent.close());
      const jobs = Object.fromEntries([...pods].map(([name, { port }]) => [name, `127.0.0.1:${port}`]));
      const prometheus = await Prometheus.start(prometheusProgram ?? '', { ...jobs, 'dkc-agent': agent.target }, alertRules);
      ends.push(() => prometheus.stop());

      const rules = await eventually('all rules are evaluated', async () => {
        const seen = await prometheus.rules();
        return seen.every(({ health }) => health !== 'unknown') ? seen : undefined;
      });
      const wanted = alertRules.groups.flatMap(({ rules }) => rules.map(({ alert }) => `${alert} ok`));
      assert.deepEqual(rules.map(({ name, health }) => `${name} ${health}`), wanted); // prettier-ignore

      const queries = rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries));
      assert.ok(queries.length > 20);
      const silent = async (): Promise<string[]> => {
        const answers = await Promise.all(queries.map(async (query) => ({ query, series: await prometheus.query(query.expr) })));
        return answers.filter(({ query, series }) => series.length === 0 && query.emptyWhile === undefined).map(({ query }) => query.expr);
      };
      await eventually('each query has an answer', async () => (await silent()).length === 0 || undefined, 60_000).catch(async () =>
        assert.deepEqual(await silent(), []),
      );
      const firing = (await prometheus.rules()).filter(({ state }) => state !== 'inactive').map(({ name }) => name);
      assert.deepEqual(firing, [], 'no alert in a cluster that is well');

      const known = new Set((await codeMetrics()).flatMap(({ name }) => [name, `${name}_bucket`, `${name}_sum`, `${name}_count`]));
      const series = await prometheus.query('count by (__name__) ({job=~"dkc-.*"})');
      const names = series.map(({ metric }) => metric['__name__'] ?? '');
      assert.deepEqual(names.filter((name) => !known.has(name) && !/^(up|ALERTS.*|scrape_.*)$/.test(name)), []); // prettier-ignore
    });

    await t.test('outside of the cluster the same controller runs by the commands of the pages, and serves the page', async () => {
      await pods.get('dkc-rollout-controller')?.daemon.stop(5_000);
      const look = () =>
        eventually('the page', async () => (await fetch('http://127.0.0.1:10463/').catch(() => undefined))?.status === 200);
      const player = {
        shell: deployed.shell,
        words: [['FILE', deployed.shell.env['KUBECONFIG'] ?? '']] as const,
        lasting: { 'dkc controllers run ': look },
      };
      for (const page of ['docs/page.md', 'docs/rollouts.md']) await play(FILE, page, player);
    });

    await t.test('the overlay of set controllers takes over: they lead under their own account, and make the pod of a set', async () => {
      const looked = await kubectl.good('get daemonset dkc-node-installer -n dkc-node-installer -o jsonpath={.status.observedGeneration}');
      assert.equal(looked, '', 'kube-controller-manager leaves it alone, as it was told');
      await kubectl.good(`apply --validate=strict -k ${join(root, 'deploy/overlays/sets')}`);
      const pod = await deployed.pod('dkc-controllers');
      ends.push(() => pod.daemon.stop(5_000));
      const labels = { app: 'web' };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app' }] } };
      const set = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: 'web' }, spec: { serviceName: 'web', replicas: 1, selector: { matchLabels: labels }, template } }; // prettier-ignore
      await kubectl.good('create -f -', JSON.stringify(set));
      await eventually('the set has its pod', async () => (await kubectl.good('get pods -l app=web -o name')).trim() === 'pod/web-0' || undefined, 60_000); // prettier-ignore
      const installer = 'get pods -n dkc-node-installer -o jsonpath={.items[*].spec.initContainers[0].args}';
      await eventually('the pod of node-a is that of the patched DaemonSet', async () => (await kubectl.good(installer)).includes('--uninstall'), 60_000); // prettier-ignore
      assert.doesNotMatch(await pod.daemon.tail(), /missing rights|forbidden/);
    });
  });
};

const parts = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];
if (why === undefined) await withRealParts(`a cluster with only deploy/ ${release.version}`, parts, define, release);
else orSkip(why, 'a cluster with only deploy/', define);
