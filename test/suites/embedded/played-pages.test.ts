import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { buildCluster, isReady, type DemoCluster } from '../../../cli/demo/cluster/demo-cluster.ts';
import { daemonSetController } from '../../../controllers/daemonset/controller.ts';
import { statefulSetController } from '../../../controllers/statefulset/controller.ts';
import { daemonSets, namespaces, nodes, statefulSets } from '../../../kube/api/resources.ts';
import { defaultSchedulerConfig } from '../../../scheduler/config/defaults.ts';
import { schedulerRunnable, servedKinds } from '../../../scheduler/scheduler.ts';
import { cliContext } from '../../support/cli-context.ts';
import { describeWithKubectl } from '../../support/kubectl.ts';
import { comparable, difference, readPage, recorded, type, writePage } from '../../support/console.ts';
import { isPlayedBy } from '../../support/docs-ledger.ts';

const FILE = 'test/suites/embedded/played-pages.test.ts';
const MAIN = new URL('../../../cli/main.ts', import.meta.url).pathname;

/** What one page needs, in a folder of its own. */
interface Setting {
  files: Readonly<Record<string, string>>;
  /** Once the files are there. @returns what is called otherwise on the page: [here, there] */
  prepare?: (home: string) => readonly (readonly [string, string])[];
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
  },
  'docs/controllers.md': { files: {} },
  'docs/signed-configurations.md': {
    files: { 'web/kubelet': `${head}maxPods: 50\nresolvConf: /etc/dkc/resolv.conf\n`, 'web/resolv.conf': 'nameserver 192.0.2.53\n' },
    prepare(home) {
      const keygen = (...args: string[]): string => execFileSync('ssh-keygen', args, { cwd: home, encoding: 'utf8' });
      keygen('-q', '-t', 'ed25519', '-N', '', '-C', 'ci@example.com', '-f', 'ci_key');
      execFileSync('sh', ['-c', `printf 'apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nsignatureKeys:\n  - %s\n' "$(cat ci_key.pub)" > policy.yaml`], { cwd: home }); // prettier-ignore
      const [, fingerprint = ''] = /(SHA256:\S+)/.exec(keygen('-l', '-f', 'ci_key.pub')) ?? [];
      // That of the key in the page's policy.
      return [[fingerprint, 'SHA256:cBCECtb7uOMPf8EGqlI6TWoU2JNSvkaKyUvuKMABgA0']];
    },
  },
};

/** Names that the API server draws differ from run to run. */
const settled = (command: string, output: string): string => comparable(command, output).replace(/\bproxy-[a-z0-9]{5}\b/g, 'proxy-X');

describeWithKubectl('pages that are played on the embedded API server; RECORD=1 writes them', (kubectl) => {
  for (const [page, { files, prepare }] of Object.entries(settings))
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
      const otherwise = [[home, '/root'] as const, ...(prepare?.(home) ?? [])];
      const env: Record<string, string> = { PATH: `${join(home, 'bin')}:${dirname(kubectl)}:/usr/bin:/bin`, HOME: home, LC_ALL: 'C.UTF-8' };

      let cluster: DemoCluster | undefined;
      const happen = async (words: string): Promise<void> => {
        const [, waiting] = /^until (\w+) waits$/.exec(words) ?? [];
        if (waiting !== undefined) return until(cluster ?? assert.fail('no cluster yet'), waiting);
        cluster = ends.use(await buildCluster(cliContext().context, { count: 3, cpus: 4 }));
        env['KUBECONFIG'] = cluster.kubeconfig;
        if (words === 'a cluster with proxy and db') await addSets(cluster);
        else await cluster.client.get(namespaces, { name: 'dkc-system' });
      };
      const path = new URL(`../../../${page}`, import.meta.url);
      const parts = readPage(await readFile(path, 'utf8'));
      const differences: string[] = [];
      for (const part of parts) {
        if (part.is === 'event') await happen(part.words);
        if (!isPlayedBy(FILE, page, part)) continue;
        const seen = await type(part.command, { cwd: home, env });
        for (const [here, there] of otherwise) seen.output = seen.output.replaceAll(here, there);
        differences.push(...[difference(part, seen, settled)].filter((one) => one !== undefined));
        part.output = recorded(part, seen);
      }
      assert.ok(parts.some((part) => isPlayedBy(FILE, page, part)), 'nothing is played'); // prettier-ignore
      if (process.env['RECORD'] !== undefined) await writeFile(path, writePage(parts));
      else assert.deepEqual(differences, [], `${page} shows something else; RECORD=1 writes it`);
    });
});

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
  const specOf = (app: string) => {
    const labels = { app };
    const containers = [{ name: app, image: `registry.example.com/${app}:1` }];
    return { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  };
  await client.create(daemonSets, { metadata: { name: 'proxy', namespace: 'shop' }, spec: specOf('proxy') });
  await client.create(statefulSets, { metadata: { name: 'db', namespace: 'shop' }, spec: { serviceName: 'db', replicas: 3, ...specOf('db') } }); // prettier-ignore
  const ready = (now: ReadonlyMap<string, Parameters<typeof isReady>[0]>): boolean => [...now.values()].filter(isReady).length === 2 + 3;
  await cluster.pods.until('all pods ready', ready, 120_000, new AbortController().signal);
}
