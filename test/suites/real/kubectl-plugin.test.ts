import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isDeepStrictEqual, promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';
import { play } from '../../support/played.ts';
import { startControlPlane, type ControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { withRealParts } from './suite.ts';

/*
 * The real kubectl finds the plugin that krew's archive holds in PATH, and a real API server answers it: who was asked for is read from the server's
 * audit log, not from the client.
 */

const FILE = 'test/suites/real/kubectl-plugin.test.ts';
const parts = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const release = await givenRelease();

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

const node = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, annotations: { 'example.com/note': 'password=hunter2-annotation' } },
});
const secrets = ['hunter2-header', 'hunter2-other', 'hunter2-annotation', 'MIIEhunter2pem', 'hunter2-path'];
const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 77
staticPodURL: https://example.com/hunter2-path/x.yaml
staticPodURLHeader:
  Authorization: [Bearer hunter2-header]
`;
const webMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', namespace: 'dkc-system', annotations: { 'example.com/note': 'hunter2-annotation' } },
  data: {
    kubelet: config,
    other: 'pass hunter2-other',
    'tls.key': '-----BEGIN PRIVATE KEY-----\nMIIEhunter2pem\n-----END PRIVATE KEY-----\n',
  },
};

await withRealParts(
  `kubectl dkc ${release.version}`,
  parts,
  () => {
    let plane: ControlPlane;
    let dir = '';
    let kubectlPath = '';
    let hanging: Server;

    const run = (args: readonly string[], input = ''): Promise<Ran> =>
      new Promise((resolve) => {
        const env = { PATH: `${dir}:/usr/bin:/bin`, HOME: dir, KUBECONFIG: join(dir, 'config') };
        const child = execFile(kubectlPath, args, { env, cwd: dir, timeout: 120_000 }, (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr });
        });
        child.stdin?.on('error', () => undefined);
        child.stdin?.end(input);
      });
    const apply = async (object: object): Promise<void> => {
      const { code, stderr } = await run(['apply', '-f', '-'], JSON.stringify(object));
      assert.equal(code, 0, stderr);
    };
    const audited = async (): Promise<Record<string, unknown>[]> =>
      (await readFile(join(dir, 'audit.log'), 'utf8')).split('\n').filter((line) => line.includes('dkc-cli')).map((line) => JSON.parse(line) as Record<string, unknown>); // prettier-ignore

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'dkc-plugin-'));
      await writeFile(join(dir, 'policy.yaml'), 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n');
      const apiServerArgs = [`--audit-policy-file=${join(dir, 'policy.yaml')}`, `--audit-log-path=${join(dir, 'audit.log')}`];
      plane = await startControlPlane({ release, apiServerArgs });
      kubectlPath = (await release.programs(parts)).kubectl;
      await promisify(execFile)(process.execPath, ['scripts/build.ts', `--out=${dir}`]);
      for (const name of ['kubectl-dkc', 'kubectl_complete-dkc']) {
        await copyFile('systemd/package/kubectl-dkc', join(dir, name));
        await chmod(join(dir, name), 0o755);
      }
      await symlink(process.execPath, join(dir, 'node'));
      // Takes connections and says nothing.
      hanging = createServer(() => undefined).listen(0, '127.0.0.1');
      await new Promise((resolve) => hanging.once('listening', resolve));
      const { port } = hanging.address() as { port: number };
      const text = plane.kubeconfig();
      await writeFile(join(dir, 'config'), text);
      const set = (...words: string[]) => run(['config', ...words]);
      await set('set-cluster', 'silent', `--server=http://127.0.0.1:${port}`);
      await set('set-context', 'silent', '--cluster=silent');
      const current = (await set('current-context')).stdout.trim();
      await set('set-context', 'shop', `--cluster=${(await set('view', '-o', `jsonpath={.contexts[?(@.name=="${current}")].context.cluster}`)).stdout}`, `--user=${(await set('view', '-o', `jsonpath={.contexts[?(@.name=="${current}")].context.user}`)).stdout}`, '--namespace=dkc-system'); // prettier-ignore
      const manifests = await run(['dkc', 'deploy', 'manifests', `--kubernetes-version=${release.version}`]);
      assert.equal(manifests.code, 0, manifests.stderr);
      const crds = await run(['dkc', 'deploy', 'manifests', '--only=crds', `--kubernetes-version=${release.version}`]);
      assert.equal((await run(['apply', '-f', '-'], crds.stdout)).code, 0);
      await eventually('the CRDs are served', async () => (await run(['get', 'nodeconfigs,nodeconfigrollouts'])).code === 0);
      assert.equal((await run(['apply', '-f', '-'], manifests.stdout)).code, 0);
      await apply(node('node-a'));
      await apply(node('node-b'));
      await apply(webMap);
    });
    after(async () => {
      hanging?.close();
      await plane?.stop();
      await rm(dir, { recursive: true, force: true });
    });

    test('kubectl dkc nodes lists the nodes, in every format', async () => {
      const table = await run(['dkc', 'nodes']);
      assert.equal(table.code, 0, table.stderr);
      assert.match(table.stdout, /^NODE .*\nnode-a .*\nnode-b /s);
      const names = await run(['dkc', 'nodes', '-o', 'name']);
      assert.equal(names.stdout, 'node/node-a\nnode/node-b\n');
      assert.equal((JSON.parse((await run(['dkc', '-o', 'json', 'nodes', 'node-b'])).stdout) as unknown[]).length, 1);
    });

    test('a context is chosen, and an unknown one is an error that names those that exist', async () => {
      assert.equal((await run(['dkc', '--context', 'shop', 'nodes'])).code, 0);
      const { code, stderr } = await run(['dkc', 'nodes', '--context=nope']);
      assert.equal(code, 3);
      assert.match(stderr, /has no context "nope"; there are .*shop.*\n$/);
      assert.equal(stderr.trimEnd().split('\n').length, 1);
    });

    test('the namespace of the context is the default, and a flag wins over it', async () => {
      const assign = ['dkc', 'assign', 'node-a', '--configmap=web', '--key=kubelet', '--dry-run', '-o', 'json'];
      const fromContext = await run([...assign, '--context=shop']);
      assert.equal(fromContext.code, 0, fromContext.stderr);
      assert.match(fromContext.stdout, /"namespace": "dkc-system"/);
      assert.match((await run([...assign, '--context=shop', '-n', 'other'])).stdout, /"namespace": "other"/);
      const none = await run(assign);
      assert.deepEqual(
        [
          none.code,
          /--configmap must be NAMESPACE\/NAME, or NAME with -n NAMESPACE or a context that has one; see kubectl dkc assign --help/.test(
            none.stderr,
          ),
        ],
        [2, true],
      );
      const rollout = await run([
        'dkc',
        'rollout',
        'create',
        'web',
        '--configmap=web',
        '--key=kubelet',
        '--all',
        '--dry-run=client',
        '-o',
        'json',
        '--context=shop',
      ]);
      assert.match(rollout.stdout, /"namespace": "dkc-system"/);
    });

    test('--as, --as-group and --as-uid impersonate: the server says whom it refuses, and records whom it let in', async () => {
      const denied = await run(['dkc', 'nodes', '--as=nobody-here']);
      assert.equal(denied.code, 3);
      assert.match(denied.stderr, /nobody-here/);
      assert.match(denied.stderr, /forbidden|403/i);
      const allowed = await run(['dkc', 'nodes', '--as=nobody-here', '--as-group=system:masters', '--as-group=dev', '--as-uid=42']);
      assert.equal(allowed.code, 0, allowed.stderr);
      const seen = await eventually('the audit log has it', async () =>
        (await audited()).find(({ impersonatedUser }) => (impersonatedUser as { uid?: string } | undefined)?.uid === '42'),
      );
      const { username, groups } = seen['impersonatedUser'] as { username: string; groups: string[] };
      assert.deepEqual([username, groups.toSorted()], ['nobody-here', ['dev', 'system:authenticated', 'system:masters']]);
      const alone = await run(['dkc', 'nodes', '--as-group=dev']);
      assert.deepEqual([alone.code, alone.stderr.includes('require --as')], [2, true]);
    });

    test('--request-timeout ends a call to a server that says nothing, in one line', async () => {
      for (const given of ['1s', '1']) {
        const { code, stderr } = await run(['dkc', 'nodes', '--context=silent', `--request-timeout=${given}`]);
        assert.equal(code, 3);
        assert.match(stderr, /^dkc: .*no answer within 1000 ms.*\n$/);
      }
    });

    test('a rollout is made, read and approved by its kubectl name, and hints name kubectl dkc', async () => {
      const created = await run([
        'dkc',
        'rollout',
        'create',
        'web',
        '--configmap',
        'dkc-system/web',
        '--key',
        'kubelet',
        '--all',
        '--paused',
      ]);
      assert.equal(created.code, 0, created.stderr);
      const status = await run(['dkc', 'rollout', 'status', 'web', '-o', 'json']);
      assert.equal((JSON.parse(status.stdout) as { kind: string }).kind, 'NodeConfigRollout');
      const text = await run(['dkc', 'rollout', 'status', 'web']);
      assert.match(text.stdout + text.stderr, /kubectl dkc controllers run|kubectl dkc rollout/);
      const missing = await run(['dkc', 'rollout', 'status', 'wob']);
      assert.match(missing.stderr, /did you mean web\?/);
      assert.match((await run(['dkc', 'nodes', 'node-x'])).stderr, /`kubectl dkc nodes` lists them/);
      assert.match((await run(['dkc', '--help'])).stdout, /kubectl dkc COMMAND/);
    });

    test('commands of the pages: the plugin, its completion from krew, rights of the rollout controller, a node given back', async () => {
      const shell = { cwd: dir, env: { PATH: `${dir}:${dirname(kubectlPath)}:/usr/bin:/bin`, HOME: dir, KUBECONFIG: join(dir, 'config') } };
      await mkdir(join(dir, '.krew/store/dkc'), { recursive: true });
      await mkdir(join(dir, '.krew/bin'));
      await symlink(dir, join(dir, '.krew/store/dkc/v0.1.0'));
      await play(FILE, 'docs/kubectl-plugin.md', { shell });
      const completed = await promisify(execFile)(join(dir, '.krew/bin/kubectl_complete-dkc'), ['vers'], { env: shell.env });
      assert.match(completed.stdout, /^version\t/);

      const rights = ['patch nodes', 'create configmaps -n dkc-system', 'create events -n default'];
      const allowed = () => Promise.all(rights.map(async (right) => (await run(['auth', 'can-i', ...right.split(' '), '--as=system:serviceaccount:kube-system:dkc-controllers'])).stdout)); // prettier-ignore
      assert.deepEqual(await allowed(), ['no\n', 'no\n', 'no\n']);
      await run(['annotate', 'node', 'node-a', 'dkc.dev/cordoned-by=web']);
      await play(FILE, 'docs/rollouts.md', { shell, words: [['node NODE', 'node node-a']] });
      await eventually('the server knows the bindings', async () => isDeepStrictEqual(await allowed(), ['yes\n', 'yes\n', 'yes\n']));
      assert.ok(!(await run(['get', 'node', 'node-a', '-o', 'yaml'])).stdout.includes('cordoned-by'));
    });

    test('kubectl completes commands, flags, nodes and rollouts of the plugin', async () => {
      const complete = async (...words: string[]): Promise<string[]> => (await run(['__complete', 'dkc', ...words])).stdout.split('\n').map((line) => line.split('\t')[0] ?? ''); // prettier-ignore
      assert.deepEqual(await complete('nod'), ['nodes', ':4', '']);
      // A completion gives up on the server after two seconds, which a busy machine may need.
      const asked = (words: string[], wanted: string[]) =>
        eventually(words.join(' '), async () => isDeepStrictEqual(await complete(...words), [...wanted, ':4', '']));
      await asked(['nodes', 'node-'], ['node-a', 'node-b']);
      await asked(['rollout', 'status', 'w'], ['web']);
      assert.deepEqual(await complete('nodes', '--context', 's'), ['shop', 'silent', ':4', '']);
      assert.ok((await complete('nodes', '--as')).includes('--as-group'));
      assert.deepEqual(await complete('validate', ''), [':0', '']);
      // Nothing is run because it is being typed.
      assert.deepEqual(await complete('agent', 'run', '--mer'), ['--merge', ':4', '']);
    });

    test('a bundle of the fleet asks the pods of dkc for their metrics, through the API server', async (t) => {
      // The server's proxy leads to no loopback address.
      const podIP = Object.values(networkInterfaces())
        .flat()
        .find((one) => one?.family === 'IPv4' && !one.internal)?.address;
      if (podIP === undefined) return t.skip('this machine has no address but loopback');
      const pod = createHttpServer((_, response) => response.end('dkc_writes_total{token="hunter2-metrics"} 7\n')).listen(0, podIP);
      await once(pod, 'listening');
      try {
        const { port } = pod.address() as { port: number };
        const metadata = { name: 'dkc-controllers-0', namespace: 'dkc-system', labels: { 'app.kubernetes.io/name': 'dkc' } };
        const containers = [{ name: 'dkc', image: 'dkc', ports: [{ name: 'metrics', containerPort: port }] }];
        await apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'dkc-system' } });
        await apply({
          apiVersion: 'v1',
          kind: 'Pod',
          metadata,
          spec: { nodeName: 'node-a', automountServiceAccountToken: false, containers },
        });
        const status = JSON.stringify({ status: { phase: 'Running', podIP, podIPs: [{ ip: podIP }] } });
        const patched = await run(['patch', 'pod', '-n', 'dkc-system', metadata.name, '--subresource=status', '-p', status]);
        assert.equal(patched.code, 0, patched.stderr);
        const { code, stderr } = await run(['dkc', 'support-bundle', '--cluster', '--output-file=metrics.tar.gz']);
        assert.equal(code, 0, stderr);
        const text = gunzipSync(await readFile(join(dir, 'metrics.tar.gz'))).toString('utf8');
        assert.match(text, /dkc_writes_total\{token="<redacted>"\} 7/);
        assert.ok(!text.includes('hunter2-metrics'));
      } finally {
        pod.close();
      }
    });

    test('a bundle of the fleet has its objects and none of their secrets', async () => {
      const { code, stdout, stderr } = await run(['dkc', 'support-bundle', '--cluster']);
      assert.equal(code, 0, stderr);
      const file = (await readdir(dir)).find((name) => name.startsWith('dkc-support-cluster-')) ?? '';
      const text = gunzipSync(await readFile(join(dir, file))).toString('utf8');
      for (const secret of [...secrets, plane.adminToken])
        assert.ok(!`${text}${stdout}${stderr}`.includes(secret), `${secret}: ${text.split('\n').find((line) => line.includes(secret))}`);
      for (const shown of ['"maxPods":77', '"name":"node-b"', 'NodeConfigRollout', `v${release.version}`, '"Established"', 'tls.key'])
        assert.ok(text.includes(shown), shown);
      assert.match(text, /dkc\/doctor-cluster\.json/);
      assert.ok(!stdout.includes('Failed:'), stdout);
      const denied = await run(['dkc', 'support-bundle', '--cluster', '--as=nobody-here', '--output-file=denied.tar.gz']);
      assert.equal(denied.code, 0, denied.stderr);
      assert.match(denied.stdout, /Failed:[\s\S]*nobody-here/);
    });
  },
  release,
);
