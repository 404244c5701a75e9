import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { isDeepStrictEqual, promisify } from 'node:util';
import { eventually } from '../../support/eventually.ts';
import { play } from '../../support/played.ts';
import { startControlPlane, type ControlPlane } from '../../support/real-parts/control-plane.ts';
import { givenRelease } from '../../support/real-parts/release.ts';
import { ofRelease } from './suite.ts';

/*
 * The real kubectl finds the plugin that krew's archive holds in PATH, and a real API server answers it: who was asked for is read from the server's
 * audit log, not from the client.
 */

const FILE = 'test/suites/real/kubectl-plugin.test.ts';
const parts = ['etcd', 'kube-apiserver', 'kubectl'] as const;
const release = await givenRelease();

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

await ofRelease(release, `kubectl dkc ${release.version}`, parts, () => {
  let plane: ControlPlane;
  let dir = '';
  let kubectlPath = '';

  const run = (args: readonly string[], input = ''): Promise<{ code: number; stdout: string; stderr: string }> =>
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
    await writeFile(join(dir, 'config'), plane.kubeconfig());
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
    await plane?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  test('--as, --as-group and --as-uid impersonate: the server says whom it refuses, and records whom it let in', async () => {
    const denied = await run(['dkc', 'nodes', '--as=nobody-here']);
    assert.equal(denied.code, 3);
    assert.match(denied.stderr, /nobody-here/);
    assert.match(denied.stderr, /forbidden|403/i);
    const allowed = await run(['dkc', 'nodes', '--as=nobody-here', '--as-group=system:masters', '--as-group=dev', '--as-uid=42']);
    assert.equal(allowed.code, 0, allowed.stderr);
    assert.match(allowed.stdout, /^NODE .*\nnode-a .*\nnode-b /s);
    const seen = await eventually('the audit log has it', async () =>
      (await audited()).find(({ impersonatedUser }) => (impersonatedUser as { uid?: string } | undefined)?.uid === '42'),
    );
    const { username, groups } = seen['impersonatedUser'] as { username: string; groups: string[] };
    assert.deepEqual([username, groups.toSorted()], ['nobody-here', ['dev', 'system:authenticated', 'system:masters']]);
  });

  test('a rollout is made, read and approved by its kubectl name, and hints name kubectl dkc', async () => {
    const created = await run('dkc rollout create web --configmap dkc-system/web --key kubelet --all --paused'.split(' '));
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
});
