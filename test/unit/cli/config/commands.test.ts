import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Client } from '../../../../kube/client/client.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const files = {
  '/nowhere/good.yaml': `${head}maxPods: 120\n`,
  '/nowhere/same.yaml': `maxPods: 120\n${head}registerNode: true\n`,
  '/nowhere/other.yaml': `${head}maxPods: 110\ncgroupDriver: systemd\n`,
  '/nowhere/bad.yaml': `${head}maxPods: -1\nnodeStatusMaxImages: -7\n`,
  '/nowhere/broken.yaml': '{',
  '/nowhere/unknown.yaml': `${head}futureField: 1\n`,
  '/etc/dkc/agent.yaml': 'kubeletVersion: 1.30\nkubeletUnit: ""\n',
  '/var/lib/kubelet/config.yaml': `${head}maxPods: 99\nstaticPodPath: manifests\n`,
  '/nowhere/drop.yaml': 'merge: both',
  '/etc/resolv.conf': '',
};
const run = (argv: string, stdin = ''): Promise<Ran> =>
  runCli(argv.split(' '), { disk: memoryDisk(files), stdin: async () => new TextEncoder().encode(stdin) });

test('validate accepts a good file with 0', async () => {
  const { code, stdout, stderr } = await run('validate good.yaml');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /Valid for kubelet 1\.30\.\n$/);
  assert.deepEqual(JSON.parse((await run('validate good.yaml -o json')).stdout), { valid: true, errors: [], warnings: [] });
});

test('validate names every broken rule of a bad file, without its values, and ends with 1', async () => {
  const { code, stdout, stderr } = await run('validate bad.yaml -o json');
  assert.equal(code, 1);
  assert.equal(stderr, 'dkc: bad.yaml is not valid for kubelet 1.30: 2 errors\n');
  const found = JSON.parse(stdout) as { valid: boolean; errors: { field: string; rule: string; message: string }[] };
  assert.equal(found.valid, false);
  assert.deepEqual(new Set(found.errors.map(({ field }) => field)), new Set(['maxPods', 'nodeStatusMaxImages']));
  for (const error of found.errors) assert.deepEqual(Object.keys(error), ['field', 'rule', 'message', 'line']);
  assert.doesNotMatch(stdout + stderr, /-7/);
});

test('validate reads standard input', async () => {
  assert.equal((await run('validate -', files['/nowhere/good.yaml'])).code, 0);
});

test('validate checks the policy only with --local-config', async () => {
  assert.equal((await run('validate other.yaml')).code, 0);
  const { code, stdout } = await run('validate other.yaml --local-config=/var/lib/kubelet/config.yaml -o json');
  assert.equal(code, 1);
  const fields = (JSON.parse(stdout) as { errors: { field: string; rule: string }[] }).errors.map(({ field }) => field);
  assert.deepEqual(new Set(fields), new Set(['cgroupDriver', 'staticPodPath']));
  assert.equal((await run('validate other.yaml --local-config=/var/lib/kubelet/config.yaml --policy=none')).code, 0);
});

test('a file that is not there is exit 3, a bad setting exit 3 and a bad flag exit 2, each in one line', async () => {
  for (const [argv, code, says] of [
    ['validate nope.yaml', 3, /^dkc: Cannot read \/nowhere\/nope\.yaml: no such file/],
    ['validate good.yaml --local-config=gone.yaml', 3, /^dkc: Cannot compare with \/nowhere\/gone\.yaml/],
    ['validate good.yaml --agent-config=drop.yaml', 3, /^dkc: Cannot use \/nowhere\/drop\.yaml: merge must be one of/],
    ['render broken.yaml', 3, /^dkc: Cannot read the kubelet configuration in \/nowhere\/broken\.yaml/],
    ['diff - -', 2, /^dkc: diff: only one/],
  ] as const) {
    const ran = await run(argv);
    assert.equal(ran.code, code, argv);
    assert.match(ran.stderr, says);
    assert.equal(ran.stderr.trimEnd().split('\n').length, 1, argv);
    assert.equal(ran.stdout, '');
  }
});

test('diff is 0 for files that mean the same', async () => {
  assert.deepEqual(await run('diff good.yaml same.yaml -o json'), { code: 0, stdout: '[]\n', stderr: '' });
});

test('diff is 1 for files that differ, naming field, class and both values', async () => {
  const { code, stdout } = await run('diff good.yaml other.yaml -o json');
  assert.equal(code, 1);
  const found = (JSON.parse(stdout) as { field: string }[]).toSorted((a, b) => a.field.localeCompare(b.field));
  assert.deepEqual(found, [
    { field: 'cgroupDriver', class: 'dangerous', from: 'cgroupfs', to: 'systemd' },
    { field: 'maxPods', class: 'needs-drain', from: 120, to: 110 },
  ]);
  assert.match((await run('diff good.yaml other.yaml')).stdout, /maxPods +needs-drain +120 +110/);
});

test('diff shows maps key by key', async () => {
  const map = (free: string): string => `${head}evictionHard: {memory.available: 100Mi, nodefs.inodesFree: ${free}}\n`;
  const disk = memoryDisk({ ...files, '/nowhere/ev1.yaml': map('5%'), '/nowhere/ev2.yaml': map('15%') });
  const { stdout, stderr } = await runCli(['diff', 'ev1.yaml', 'ev2.yaml'], { disk });
  assert.match(stdout, /^FIELD +CLASS +FROM +TO\nevictionHard\.nodefs\.inodesFree +needs-drain +5% +15%\n$/);
  assert.equal(stderr, 'dkc: ev1.yaml and ev2.yaml differ in 1 field\n');
});

test('who may not read agent.yaml works on files all the same, and is told; on the node root is asked for', async () => {
  const plain = memoryDisk(files);
  const denied = Object.assign(new Error("EACCES: permission denied, open '/etc/dkc/agent.yaml'"), { code: 'EACCES' });
  const readLinked = async (path: string) => (path === '/etc/dkc/agent.yaml' ? Promise.reject(denied) : plain.readLinked(path));
  const disk = { ...plain, readLinked };
  const as = (argv: string) => runCli(argv.split(' '), { disk });
  const note = 'dkc: note: /etc/dkc/agent.yaml is not used: permission denied\n';
  const accepted = await as('validate good.yaml --kubelet-version=1.30');
  assert.deepEqual([accepted.code, accepted.stderr], [0, note]);
  for (const argv of ['render', 'validate good.yaml --agent-config=/etc/dkc/agent.yaml']) {
    const ran = await as(argv);
    assert.equal(ran.code, 3);
    assert.match(ran.stderr, /^dkc: Cannot read \/etc\/dkc\/agent\.yaml: permission denied: run this as root/);
  }
});

test('render fills in the defaults of the version, and without FILE takes what the node uses', async () => {
  const rendered = parse((await run('render good.yaml')).stdout) as Record<string, unknown>;
  assert.deepEqual([rendered['maxPods'], rendered['kind'], rendered['registerNode']], [120, 'KubeletConfiguration', true]);
  const inUse = parse((await run('render')).stdout) as Record<string, unknown>;
  assert.equal(inUse['maxPods'], 99);
});

test('render --merge=overlay lays the file over the local config, whose relative paths are resolved', async () => {
  const rendered = parse((await run('render good.yaml --merge=overlay')).stdout) as Record<string, unknown>;
  assert.deepEqual([rendered['maxPods'], rendered['staticPodPath']], [120, '/var/lib/kubelet/manifests']);
});

test('what render prints is a config that validates and does not differ from its source', async () => {
  const { stdout } = await run('render other.yaml');
  assert.equal((await run('validate -', stdout)).code, 0);
  assert.equal((await run('diff other.yaml -', stdout)).code, 0);
});

test('why tells value, origin and class, of one field, of a branch, or of all', async () => {
  const one = JSON.parse((await run('why maxPods -o json')).stdout) as unknown;
  assert.deepEqual(one, [{ field: 'maxPods', value: 99, origin: 'local', class: 'needs-drain', shadowed: false }]);
  const branch = JSON.parse((await run('why authentication -o json')).stdout) as { field: string; origin: string }[];
  assert.ok(branch.length > 2 && branch.every(({ field, origin }) => field.startsWith('authentication.') && origin === 'default'));
  const all = JSON.parse((await run('why -o json')).stdout) as unknown[];
  assert.ok(all.length > 100);
  const unknown = await run('why maxPod');
  assert.deepEqual([unknown.code, unknown.stderr], [2, 'dkc: why: kubelet 1.30 has no field maxPod; did you mean maxPods?\n']);
});

test('why shows that a flag of the kubelet wins', async () => {
  const disk = memoryDisk({
    ...files,
    '/etc/dkc/agent.yaml': 'kubeletVersion: 1.30\nkubeletUnit: ""\nkubeletArgs: /args\n',
    '/args': '--max-pods=50\n',
  });
  const { stdout } = await runCli(['why', 'maxPods', '-o', 'json'], { disk });
  assert.deepEqual(JSON.parse(stdout), [{ field: 'maxPods', value: 50, origin: 'flag', class: 'needs-drain', shadowed: true }]);
  assert.match((await runCli(['why', 'maxPods'], { disk })).stdout, /by a flag/);
});

test('why --configz shows what the kubelet runs with, and exits with 1 where that is another value', async () => {
  const disk = memoryDisk({
    ...files,
    '/etc/dkc/agent.yaml': 'kubeletVersion: 1.36\nkubeletUnit: ""\nnodeName: node-a\n',
    '/same': '{"kubeletconfig":{"maxPods":99,"tlsCertFile":"/pki/kubelet.crt","cgroupDriver":"systemd","evictionHard":null}}',
    '/other': '{"kubeletconfig":{"maxPods":7,"featureGates":{"NodeSwap":true}}}',
    '/status': '{"kind":"Status"}',
  });
  const same = await runCli(['why', 'tlsCertFile', '--configz=/same'], { disk });
  const other = await runCli(['why', '--configz=/other'], { disk });
  assert.deepEqual([same.code, same.stderr], [0, '']);
  assert.match(same.stdout, /RUNNING +DIFFERS\ntlsCertFile .*\/pki\/kubelet\.crt/);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /runs with values that differ from its configuration: .*maxPods/);
  const one = await runCli(['why', 'maxPods', '--configz=/other', '-o', 'json'], { disk });
  assert.deepEqual(JSON.parse(one.stdout), [{ field: 'maxPods', value: 99, origin: 'local', class: 'needs-drain', shadowed: false, running: 7, differs: true }]); // prettier-ignore
  const status = await runCli(['why', '--configz=/status'], { disk });
  assert.equal(status.code, 3);
  assert.match(status.stderr, /Cannot read the answer of \/configz in \/status: .*has no kubeletconfig/);

  const asked: string[] = [];
  const client = { raw: async (method: string, path: string) => (asked.push(`${method} ${path}`), { kubeletconfig: { maxPods: 7 } }), close: async () => {} }; // prettier-ignore
  const connect = async () => client as unknown as Client;
  assert.equal((await runCli(['why', '--configz', 'maxPods', '--kubeconfig=/admin'], { disk, connect })).code, 1);
  assert.deepEqual(asked, ['GET /api/v1/nodes/node-a/proxy/configz']);
  assert.equal((await runCli(['why', 'maxPods', '--configz'], { disk })).code, 2);
});

test('why names the drop-in that a value is from, and validate what it changes and which flags are gone', async () => {
  const disk = memoryDisk({
    ...files,
    '/etc/dkc/agent.yaml': 'kubeletVersion: 1.36\nkubeletUnit: ""\nkubeletArgs: /args\n',
    '/args': '--config-dir=/conf.d\n--pod-infra-container-image=x\n--containerd=y\n',
    '/conf.d/10.conf': `${head}maxPods: 7\n`,
  });
  const { stdout } = await runCli(['why', 'maxPods', '-o', 'json'], { disk });
  assert.deepEqual(JSON.parse(stdout), [{ field: 'maxPods', value: 7, origin: 'drop-in', file: '/conf.d/10.conf', class: 'needs-drain', shadowed: false }]); // prettier-ignore
  assert.match((await runCli(['why', 'maxPods'], { disk })).stdout, /drop-in \/conf\.d\/10\.conf/);
  const json = (await runCli(['validate', 'good.yaml', '-o', 'json'], { disk })).stdout;
  const { warnings } = JSON.parse(json) as { warnings: { message: string }[] };
  const flags = warnings.flatMap(({ message }) => /started with (\S+), which kubelets from (\S+) on/.exec(message)?.slice(1) ?? []);
  assert.deepEqual(flags, ['--pod-infra-container-image', '1.35']);
  assert.ok(warnings.some(({ message }) => message.startsWith('maxPods is changed by drop-in /conf.d/10.conf')));
});

test('stderr has one line whatever the end, and what was assumed is only remarked on work that was done', async () => {
  const bare = { '/nowhere/good.yaml': files['/nowhere/good.yaml'], '/nowhere/other.yaml': files['/nowhere/other.yaml'] };
  const ends = [
    { argv: 'validate good.yaml', code: 0, says: /^dkc: note: validated for kubelet 1\.37 \(latest known\)/ },
    {
      argv: 'diff good.yaml other.yaml',
      code: 1,
      says: /^dkc: good\.yaml and other\.yaml differ in 2 fields; validated for kubelet 1\.37/,
    },
  ];
  for (const { argv, code, says } of ends) {
    const ran = await runCli(argv.split(' '), { disk: memoryDisk(bare) });
    assert.deepEqual([ran.code, ran.stderr.trimEnd().split('\n').length], [code, 1], `${argv}: ${ran.stderr}`);
    assert.match(ran.stderr, says);
  }
});

test('a kubelet newer than all that is known is validated as the newest, which stderr says; an older one is an error', async () => {
  const valid = await run('validate good.yaml --kubelet-version=1.40');
  assert.equal(valid.stderr, 'dkc: warning: kubelet 1.40 is newer than the latest known; validated as 1.37\n');
  assert.deepEqual([valid.code, valid.stdout.endsWith('Valid for kubelet 1.37.\n')], [0, true]);
  const unknown = await run('validate unknown.yaml --kubelet-version=1.40');
  assert.match(unknown.stdout, /futureField is not a field of kubelet 1\.37, the latest known; kubelet 1\.40 may know it/);
  const wrong = await run('validate bad.yaml --kubelet-version=1.40');
  assert.equal(wrong.code, 1);
  assert.match(wrong.stderr, /^dkc: bad\.yaml is not valid for kubelet 1\.37: 2 errors; kubelet 1\.40 is newer than .*\n$/);
  const old = await run('validate good.yaml --kubelet-version=1.19');
  assert.equal(old.code, 3);
  assert.match(old.stderr, /^dkc: Cannot validate a configuration for kubelet 1\.19: .*1\.20 to 1\.37 are known, and this one is older; .*\n$/); // prettier-ignore
});
