import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { buildCluster, type DemoCluster, isReady } from '../../../cli/demo/cluster/demo-cluster.ts';
import { daemonSetController } from '../../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../../controllers/statefulset/controller.ts';
import { daemonSets, type KubeObject, namespaces, nodes, pods, statefulSets } from '../../../kube/api/object.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/config.ts';
import { schedulerRunnable, servedKinds } from '../../../scheduler/scheduler.ts';
import { cliContext } from '../../support/cli-context.ts';
import { eventually } from '../../support/eventually.ts';
import { describeWithKubectl } from '../../support/kubectl.ts';
import { comparable, type } from '../../support/console.ts';
import { play, type Player, start } from '../../support/played.ts';
import { freePorts } from '../../support/real-parts/free-ports.ts';

const FILE = 'test/suites/embedded/played-pages.test.ts';
const MAIN = new URL('../../../cli/main.ts', import.meta.url).pathname;

type Words = readonly (readonly [string, string])[];

/** What one page needs, in a folder of its own. */
interface Setting {
  files?: Readonly<Record<string, string>>;
  /** Once the files are there. @returns what is called otherwise than on the page: [there, here] */
  prepare?: (home: string) => Words | Promise<Words>;
  /** Pages that go on where this one ends, with what is called otherwise there. */
  next?: Readonly<Record<string, Words>>;
  /** What ends with 0 afterwards. */
  after?: string;
}

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

const settings: Readonly<Record<string, Setting>> = {
  'docs/scheduler.md': {
    files: {
      'batch.yaml': `profiles:
  - schedulerName: batch
    pluginArgs: {NodeResourcesFit: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 0}]}}}
podMaxBackofSeconds: 5
`,
    },
    prepare: async () => [['127.0.0.1:10462', `127.0.0.1:${(await freePorts(1))[0]}`]],
  },
  'docs/controllers.md': {
    next: { 'docs/statefulset.md': [['NS/NAME', 'shop/db'], ['-n NS ', '-n shop '], ['POD', 'db-2'], ['=NAME', '=db']] }, // prettier-ignore
  },
  'docs/operations.md': { after: "kubectl get nodeconfig node-a -o jsonpath='{.spec.configMap.name}' | grep -x web" },
  'docs/embedded-api.md': { prepare: (home) => [['/tmp/', `${home}/`]] },
  'docs/signed-configurations.md': {
    files: { 'web/kubelet': `${head}maxPods: 50\nresolvConf: /etc/dkc/resolv.conf\n`, 'web/resolv.conf': 'nameserver 192.0.2.53\n' },
    prepare(home) {
      const keygen = (...args: string[]): string => execFileSync('ssh-keygen', args, { cwd: home, encoding: 'utf8' });
      keygen('-q', '-t', 'ed25519', '-N', '', '-C', 'ci@example.com', '-f', 'ci_key');
      execFileSync('sh', ['-c', `printf 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nsignatureKeys:\n  - %s\n' "$(cat ci_key.pub)" > policy.yaml`], { cwd: home }); // prettier-ignore
      const [, fingerprint = ''] = /(SHA256:\S+)/.exec(keygen('-l', '-f', 'ci_key.pub')) ?? [];
      // That of the key in the page's policy.
      return [['SHA256:cBCECtb7uOMPf8EGqlI6TWoU2JNSvkaKyUvuKMABgA0', fingerprint]];
    },
  },
};

/** Names that the API server draws differ from run to run. */
const settled = (command: string, output: string): string => {
  const text = comparable(command, output).replace(/\bproxy-[a-z0-9]{5}\b/g, 'proxy-X');
  // On which of the nodes the scheduler places db-1, and what it retries meanwhile, is chance.
  return command.startsWith('dkc why pod') ? text.replace(/node-[13]/g, 'NODE').replace(/tried (once|\d+ times)/, 'tried N times') : text;
};

describeWithKubectl('pages that are played on the embedded API server; RECORD=1 writes them', (kubectl) => {
  for (const [page, { files = {}, prepare, next = {}, after = 'true' }] of Object.entries(settings))
    test(page, async () => {
      await using ends = new AsyncDisposableStack();
      const home = await mkdtemp(join(tmpdir(), 'dkc-page-'));
      ends.defer(() => rm(home, { recursive: true, force: true }));
      const written = { 'bin/dkc': `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, ...files };
      for (const [name, text] of Object.entries(written)) {
        await mkdir(dirname(join(home, name)), { recursive: true });
        await writeFile(join(home, name), text);
      }
      await chmod(join(home, 'bin/dkc'), 0o755);
      const words = [['/root', home] as const, ...((await prepare?.(home)) ?? [])];
      const env: Record<string, string> = { PATH: `${join(home, 'bin')}:${dirname(kubectl)}:/usr/bin:/bin`, HOME: home, LC_ALL: 'C.UTF-8' };

      let cluster: DemoCluster | undefined;
      const happen = async (event: string): Promise<void> => {
        const [, waiting] = /^until (\w+) waits$/.exec(event) ?? [];
        if (waiting !== undefined) return until(cluster ?? assert.fail('no cluster yet'), waiting);
        if (event === 'an API server of 1.20 where a Node assigns') return oldCluster(ends, home, shell);
        cluster = ends.use(await buildCluster(cliContext().context, { count: 3, cpus: 4 }));
        env['KUBECONFIG'] = cluster.kubeconfig;
        if (event === 'a cluster with proxy and db') await addSets(cluster);
        else if (event === 'a scheduler keeps room for db-1') await keepRoom(cluster, ends, { address: words.at(-1)?.[1] ?? '', shell });
        else await cluster.client.get(namespaces, { name: 'dkc-system' });
      };
      const shell = { cwd: home, env };
      const player = { shell, happen, lasting: { 'dkc apiserver ': async () => undefined }, settled };
      for (const [one, theirs] of [[page, words] as const, ...Object.entries(next)]) await play(FILE, one, { ...player, words: theirs });
      assert.equal((await type(after, shell)).code, 0, after);
    });
});

/** With the definitions of dkc, and a node that reports what its Node assigns to it. */
async function oldCluster(ends: AsyncDisposableStack, home: string, shell: Player['shell']): Promise<void> {
  shell.env['KUBECONFIG'] = join(home, 'kubeconfig');
  ends.use(await start(`dkc apiserver --write-kubeconfig=${home}/kubeconfig`, shell));
  const configMap = { namespace: 'dkc-system', name: 'web', kubeletConfigKey: 'kubelet' };
  const source = { configMap: { ...configMap, uid: 'u1', resourceVersion: '1' } };
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' }, spec: { configSource: { configMap } }, status: { config: { assigned: source, active: source, lastKnownGood: source } } }; // prettier-ignore
  await writeFile(join(home, 'node.yaml'), JSON.stringify(node));
  await writeFile(join(home, 'web'), `${head}maxPods: 50\n`);
  const prepared = await type('dkc deploy manifests --kubernetes-version=1.20 | kubectl apply -f - && kubectl -n dkc-system create configmap web --from-file=kubelet=web && kubectl create -f node.yaml && dkc nodes -o wide', shell); // prettier-ignore
  assert.equal(prepared.code, 0, prepared.output);
}

/** A pod of this set waits for an image. */
async function until(cluster: DemoCluster, name: string): Promise<void> {
  const waits = (status: { containerStatuses?: { state?: { waiting?: unknown } }[] } = {}): boolean =>
    (status.containerStatuses ?? []).some(({ state }) => state?.waiting !== undefined);
  await cluster.pods.until(
    `a pod of ${name} waiting`,
    (now) => [...now.values()].some(({ metadata, status }) => metadata.labels?.['app'] === name && waits(status)),
    120_000,
    new AbortController().signal,
  );
}

/** DaemonSet proxy on the nodes that it tolerates, and StatefulSet db of three pods, all ready. */
async function addSets(cluster: DemoCluster): Promise<void> {
  const { client } = cluster;
  const served = await servedKinds(client, new AbortController().signal);
  await cluster.start('dkc-scheduler', (runtime) => schedulerRunnable(runtime, defaultSchedulerConfig, served));
  await cluster.start('dkc-controllers', (runtime) => [daemonSetController(runtime), statefulSetController(runtime)]);
  await client.create(namespaces, { metadata: { name: 'shop' } });
  await client.patch(nodes, { name: 'node-3' }, { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } }, { type: 'merge' });
  await client.create(daemonSets, { metadata: { name: 'proxy', namespace: 'shop' }, spec: specOf('proxy') });
  await client.create(statefulSets, { metadata: { name: 'db', namespace: 'shop' }, spec: { serviceName: 'db', replicas: 3, ...specOf('db') } }); // prettier-ignore
  await allReady(cluster, 2 + 3);
}

const specOf = (app: string, more: object = {}) => {
  const labels = { app };
  const containers = [{ name: app, image: `registry.example.com/${app}:1`, ...more }];
  return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
};

async function allReady(cluster: DemoCluster, count: number): Promise<void> {
  const ready = (now: ReadonlyMap<string, Parameters<typeof isReady>[0]>): boolean => [...now.values()].filter(isReady).length === count;
  await cluster.pods.until('all pods ready', ready, 120_000, new AbortController().signal);
}

/** node-2 is cordoned; a scheduler runs at this address; db-1, which its set would create again, is deleted while no controller runs; big fits nowhere. */
async function keepRoom(
  cluster: DemoCluster,
  ends: AsyncDisposableStack,
  { address, shell }: { address: string; shell: Player['shell'] },
): Promise<void> {
  const { client } = cluster;
  ends.use(
    await start(
      `dkc scheduler run --kubeconfig=${cluster.kubeconfig} --leader-elect=false --debug --metrics-bind-address=${address}`,
      shell,
    ),
  );
  await client.patch(nodes, { name: 'node-2' }, { spec: { unschedulable: true } }, { type: 'merge' });
  const controllers = await cluster.start('dkc-controllers', (runtime) => [statefulSetController(runtime)]);
  const namespace = 'shop';
  const spec = {
    serviceName: 'db',
    replicas: 2,
    updateStrategy: { type: 'OnDelete' },
    ...specOf('db', { resources: { requests: { cpu: '500m' } } }),
  };
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(statefulSets, { metadata: { name: 'db', namespace }, spec });
  await allReady(cluster, 2);
  const { template } = specOf('db', { image: 'registry.example.com/db:2', resources: { requests: { cpu: '500m' } } });
  await client.patch(statefulSets, { namespace, name: 'db' }, { spec: { template } }, { type: 'merge' });
  await eventually('the set wants another revision', async () => {
    const { status = {} } = await client.get<KubeObject & { status?: { currentRevision?: string; updateRevision?: string } }>(statefulSets, { namespace, name: 'db' }); // prettier-ignore
    return status.updateRevision !== status.currentRevision;
  });
  await controllers[Symbol.asyncDispose]();
  await client.delete(pods, { namespace, name: 'db-1' });
  const shown = async (page: string): Promise<string> => (await fetch(`http://${address}/debug/${page}`)).text();
  await eventually('room is kept', async () => (await shown('reservations')).includes('"db-1"'));
  await client.create(pods, { metadata: { name: 'big', namespace }, spec: { containers: [{ name: 'main', image: 'big', resources: { requests: { cpu: '64' } } }] } }); // prettier-ignore
  await eventually('big waits for a change', async () =>
    /"unschedulable"/.test((await shown('scheduler-queue')).replace(/"pools":{.*?}/, '')),
  );
}
