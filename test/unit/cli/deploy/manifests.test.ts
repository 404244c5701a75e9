import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { hold } from '../../../../cli/deploy/install-node.ts';
import { needsInstall, packageFiles } from '../../../../cli/deploy/install-plan.ts';
import type { Args } from '../../../../cli/args/args.ts';
import { parseAllDocuments } from 'yaml';
import { boardText } from '../../../../deploy/board.ts';
import { cliContext, runCli } from '../../../support/cli-context.ts';

interface Manifest {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: { resourceNames?: string[] }[];
  subjects?: { kind: string }[];
}

async function printed(...flags: string[]): Promise<Manifest[]> {
  const { code, stdout, stderr } = await runCli(['deploy', 'manifests', ...flags]);
  assert.deepEqual([code, stderr], [0, '']);
  return parseAllDocuments(stdout).map((document) => document.toJS() as Manifest);
}

const files = [
  { file: 'base/dkc.yaml', flags: [] },
  { file: 'base/controllers.yaml', flags: ['--only=controllers', '--image=dkc'] },
  { file: 'components/scheduler/scheduler.yaml', flags: ['--only=scheduler', '--image=dkc'] },
  { file: 'components/sets/sets.yaml', flags: ['--only=sets', '--image=dkc'] },
  { file: 'components/node-installer/node-installer.yaml', flags: ['--only=node-installer', '--image=dkc'] },
  { file: 'components/monitoring/monitoring.yaml', flags: ['--only=monitoring'] },
  { file: 'dkc-1.20.yaml', flags: ['--kubernetes-version=1.20'] },
];
const deploy = new URL('../../../../deploy/', import.meta.url);
async function isCurrent(file: string, text: string): Promise<void> {
  if (process.env['RECORD'] !== undefined) await writeFile(new URL(file, deploy), text);
  assert.equal(await readFile(new URL(file, deploy), 'utf8'), text);
}
for (const { file, flags } of files)
  test(`deploy/${file} is current: RECORD=1 writes it`, async () => {
    const { stdout } = await runCli(['deploy', 'manifests', ...flags]);
    await isCurrent(file, `# Printed by: ${['dkc deploy manifests', ...flags].join(' ')}\n${stdout}`);
  });
test('deploy/components/monitoring/board.json is current: RECORD=1 writes it', () =>
  isCurrent('components/monitoring/board.json', boardText));

const kinds = (objects: readonly Manifest[]): string => [...new Set(objects.map(({ kind }) => kind))].join(' ');
const roles = 'Namespace ClusterRole ClusterRoleBinding Role RoleBinding';
const policies = 'ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding';
const cases = [
  { why: 'prints everything', flags: [], kinds: `CustomResourceDefinition ${roles} ${policies}` },
  { why: 'prints the other part', flags: ['--only=rbac'], kinds: `${roles} ${policies}` },
  { why: 'leaves out policies before 1.30', flags: ['--only=rbac', '--kubernetes-version=v1.29.4+vendor'], kinds: roles },
  { why: 'prints what runs in the cluster', flags: ['--only=controllers', '--image=dkc:1'], kinds: 'ServiceAccount ClusterRoleBinding RoleBinding Role PriorityLevelConfiguration FlowSchema Deployment Service PodDisruptionBudget NetworkPolicy' }, // prettier-ignore
];
for (const c of cases) test(`deploy manifests ${c.why}`, async () => assert.equal(kinds(await printed(...c.flags)), c.kinds));

test('--overlay adds to what is printed without it, in one order, each once', async () => {
  const names = async (...flags: string[]) => (await printed('--image=dkc', ...flags)).map(({ kind, metadata: { name, namespace } }) => `${kind} ${namespace}/${name}`); // prettier-ignore
  const [plain, more] = [await names(), await names('--overlay=monitoring, scheduler,monitoring')];
  const alone = [...(await names('--only=scheduler')), ...(await names('--only=monitoring'))];
  assert.deepEqual(more, [...plain, ...alone]);
});

test('with --nodes every cluster-wide rule of a node names it, and no group gets anything', async () => {
  for (const whose of ['kubelet', 'service-account']) {
    const objects = await printed('--only=rbac', '--nodes=node-a,node-b', `--credentials=${whose}`);
    const own = objects.filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'dkc:node:node-b');
    const named = own.flatMap(({ rules = [] }) => rules.map(({ resourceNames }) => resourceNames?.join()));
    assert.deepEqual([own.length, [...new Set(named)]], [1, ['node-b']]);
    const subjects = objects.flatMap(({ subjects = [] }) => subjects.map(({ kind }) => kind));
    assert.deepEqual([...new Set(subjects)], [whose === 'kubelet' ? 'User' : 'ServiceAccount']);
  }
});

const misuses = [
  { flags: ['--credentials=service-account'], says: '--credentials=service-account needs --nodes' },
  { flags: ['--kubernetes-version=new'], says: '--kubernetes-version must be a version such as 1.36 or v1.36.3' },
  { flags: ['--nodes=Node-A'], says: 'invalid node name "Node-A"' },
  { flags: ['--only=controllers'], says: '--only=controllers needs --image' },
  { flags: ['--overlay=schedulers', '--image=dkc'], says: '--overlay must name scheduler, sets, node-installer, monitoring, comma-separated; there is no schedulers' }, // prettier-ignore
  { flags: ['--overlay=monitoring', '--only=crds'], says: '--overlay adds to what is printed without --only; use one of them' },
];
for (const { flags, says } of misuses)
  test(`deploy manifests ${flags.join(' ')} is wrong usage`, async () => {
    const { code, stdout, stderr } = await runCli(['deploy', 'manifests', ...flags]);
    assert.deepEqual([code, stdout], [2, '']);
    assert.ok(stderr.includes(says), stderr);
  });

const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
const list = '0755 /usr/lib/dkc/node\n0777 /usr/bin/kubectl-dkc\n0600 /etc/dkc/agent.yaml\n';
const sums = `${a}  ./usr/lib/dkc/node\n${b}  ./etc/dkc/agent.yaml\n`;
const packaged = packageFiles(list, sums);

const wrong = [
  { why: 'a path outside of the node', manifest: '0755 /usr/../../etc/passwd\n', says: /names "\/usr\/\.\.\/\.\.\/etc\/passwd"/ },
  { why: 'a file without a hash', manifest: '0755 /usr/bin/dkc\n', says: /no SHA-256 of \/usr\/bin\/dkc/ },
];
for (const { why, manifest, says } of wrong)
  test(`a package is refused for ${why}`, () => assert.throws(() => packageFiles(manifest, sums), says));

const there = new Map([['/usr/lib/dkc/node', a ?? ''], ['/etc/dkc/agent.yaml', c ?? '']]); // prettier-ignore
const done = { found: there, manifest: list, record: list, isUnfinished: false };
const nodes = [
  { why: 'all is there, with settings of the administrator', of: done, needed: false },
  { why: 'nothing was installed', of: { ...done, found: new Map<string, string>(), record: undefined }, needed: true },
  { why: 'a file has other bytes', of: { ...done, found: new Map([['/usr/lib/dkc/node', b ?? '']]) }, needed: true },
  { why: 'an installation was cut short', of: { ...done, isUnfinished: true }, needed: true },
];
for (const { why, of, needed } of nodes)
  test(`where ${why} there is ${needed ? 'something' : 'nothing'} to do`, () => assert.equal(needsInstall(packaged, of), needed));

test('dkc deploy hold goes on until it is asked to end, and ends with 0', async () => {
  const end = new AbortController();
  const { context, out } = cliContext({ signal: end.signal });
  const running = hold.run(context, {} as Args);
  const first = await Promise.race([running, new Promise((resolve) => setImmediate(resolve, 'it goes on'))]);
  end.abort();
  assert.deepEqual([first, await running, out()], ['it goes on', { code: 0 }, 'this node has the package; nothing is left to do\n']);
});
