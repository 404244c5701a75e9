import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client } from '../../../../kube/client/client.ts';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const settings = 'kubeletUnit: ""\nnodeName: node-a\nkubeletVersion:';
const files = {
  '/nowhere/good.yaml': `${head}maxPods: 120\n`,
  '/nowhere/same.yaml': `maxPods: 120\n${head}registerNode: true\n`,
  '/nowhere/other.yaml': `${head}maxPods: 110\ncgroupDriver: systemd\n`,
  '/nowhere/bad.yaml': `${head}maxPods: -1\nnodeStatusMaxImages: -7\n`,
  '/nowhere/broken.yaml': '{',
  '/nowhere/unknown.yaml': `${head}futureField: 1\n`,
  '/nowhere/ev1.yaml': `${head}evictionHard: {memory.available: 100Mi, nodefs.inodesFree: 5%}\n`,
  '/nowhere/ev2.yaml': `${head}evictionHard: {memory.available: 100Mi, nodefs.inodesFree: 15%}\n`,
  '/nowhere/typos.yaml': `${head}maxpods: 5\npodPidsLimt: 7\nmaxPods: 8\nmaxPods: 9\nauthentication:\n  x509:\n    clientCaFile: /ca\n`,
  '/nowhere/many.yaml': `${head}maxPods: -3\nsyncFrequency: 5\ntlsCipherSuites: [foo]\nevictionHard:\n  memory.available: 1Qi\nfeatureGates:\n  NodeSwapp: true\nimageGCLowThresholdPercent: 95\n`,
  '/nowhere/pods.yaml': `${head}clusterDNS: [10.0.0]\ncontainerRuntimeEndpoint: unix:///run/no.sock\nsystemReserved: {cpu: "900"}\nkubeReserved: {memory: 900Gi}\n`,
  '/etc/dkc/agent.yaml': `${settings} 1.30\n`,
  '/var/lib/kubelet/config.yaml': `${head}maxPods: 99\nstaticPodPath: manifests\n`,
  '/nowhere/drop.yaml': 'merge: both',
  '/etc/resolv.conf': '',
  '/proc/meminfo': 'MemTotal:       16384000 kB\n',
  '/sys/devices/system/cpu/online': '0-3\n',
  '/flags': '--max-pods=50\n',
  '/gone-flags': '--config-dir=/conf.d\n--pod-infra-container-image=x\n--containerd=y\n',
  '/conf.d/10.conf': `${head}maxPods: 7\ncgroupDriver: cgroupfs\n`,
  '/same': '{"kubeletconfig":{"maxPods":99,"tlsCertFile":"/pki/kubelet.crt","cgroupDriver":"systemd","evictionHard":null}}',
  '/differs': '{"kubeletconfig":{"maxPods":7,"featureGates":{"NodeSwap":true}}}',
  '/status': '{"kind":"Status"}',
};
const run = (argv: string, stdin = '', agent = files['/etc/dkc/agent.yaml']): Promise<Ran> =>
  runCli(argv.split(' '), {
    disk: memoryDisk({ ...files, '/etc/dkc/agent.yaml': agent }),
    stdin: async () => new TextEncoder().encode(stdin),
  });

interface Row {
  argv: string;
  stdin?: string;
  /** What agent.yaml says. */
  agent?: string;
  code: number;
  out?: RegExp;
  json?: unknown;
  err?: RegExp;
}
const flags = `${settings} 1.30\nkubeletArgs: /flags\n`;
const dropIns = `${settings} 1.36\nkubeletArgs: /gone-flags\n`;
const modern = `${settings} 1.36\n`;
const maxPods = { field: 'maxPods', value: 99, origin: 'local', class: 'needs-drain', shadowed: false };
const rows: Row[] = [
  { argv: 'validate good.yaml', code: 0, out: /Valid for kubelet 1\.30\.\n$/, err: /^$/ },
  { argv: 'validate good.yaml -o json', code: 0, json: { valid: true, errors: [], warnings: [] } },
  { argv: 'validate bad.yaml -o json', code: 1, out: /"field": "maxPods",\n +"rule": .*\n +"message": (?!.*-1).*\n +"line": 3/, err: /^dkc: bad\.yaml is not valid for kubelet 1\.30: 2 errors\n$/ },
  { argv: 'validate -', stdin: files['/nowhere/good.yaml'], code: 0 },
  { argv: 'validate - -', code: 2 },
  { argv: 'validate other.yaml --local-config=/var/lib/kubelet/config.yaml', code: 1, out: /^error +cgroupDriver /m },
  { argv: 'validate other.yaml --local-config=/var/lib/kubelet/config.yaml --policy=none', code: 0 },
  { argv: 'validate good.yaml many.yaml', code: 1, out: /^good\.yaml:\nValid for kubelet 1\.30\.\n\nmany\.yaml:\nLEVEL +FIELD +LINE +MESSAGE\n/, err: /^dkc: many\.yaml is not valid for kubelet 1\.30: 6 errors\n$/ },
  { argv: 'validate nope.yaml', code: 3, err: /^dkc: Cannot read \/nowhere\/nope\.yaml: no such file/ },
  { argv: 'validate good.yaml --local-config=gone.yaml', code: 3, err: /^dkc: Cannot compare with \/nowhere\/gone\.yaml/ },
  { argv: 'validate good.yaml --agent-config=drop.yaml', code: 3, err: /^dkc: Cannot use \/nowhere\/drop\.yaml: merge must be one of/ },
  { argv: 'validate good.yaml --kubelet-version=1.40', code: 0, out: /Valid for kubelet 1\.37\.\n$/, err: /^dkc: warning: kubelet 1\.40 is newer than the latest known; validated as 1\.37\n$/ },
  { argv: 'validate unknown.yaml --kubelet-version=1.40', code: 0, out: /futureField is not a field of kubelet 1\.37, the latest known; kubelet 1\.40 may know it/ },
  { argv: 'validate bad.yaml --kubelet-version=1.40', code: 1, err: /^dkc: bad\.yaml is not valid for kubelet 1\.37: 2 errors; kubelet 1\.40 is newer than .*\n$/ },
  { argv: 'validate good.yaml --kubelet-version=1.19', code: 3, err: /^dkc: Cannot validate a configuration for kubelet 1\.19: .*1\.20 to 1\.37 are known, and this one is older; .*\n$/ },
  { argv: 'validate good.yaml', agent: dropIns, code: 1, out: /^(?=[^]*maxPods is changed by drop-in \/conf\.d\/10\.conf)(?=[^]*started with --pod-infra-container-image, which kubelets from 1\.35 on)/ },
  { argv: 'validate other.yaml --local-config=/var/lib/kubelet/config.yaml', agent: dropIns, code: 1, out: /^(?![^]*error +cgroupDriver)[^]*warning +cgroupDriver/ },
  { argv: 'validate pods.yaml', code: 0, out: /clusterDNS[^]*that is not on this machine: .* \(an error on such a node\)/ },
  { argv: 'validate pods.yaml', code: 0, out: /^(?=[^]*reserves more CPU than this machine has)(?=[^]*reserves more memory than this machine has)/ },
  { argv: 'validate pods.yaml --strict', code: 1, out: /^error +clusterDNS [^]*^warning +containerRuntimeEndpoint /m },
  { argv: 'diff good.yaml same.yaml -o json', code: 0, json: [], err: /^$/ },
  { argv: 'diff good.yaml other.yaml', code: 1, out: /^maxPods +needs-drain +120 +110$/m },
  { argv: 'diff ev1.yaml ev2.yaml', code: 1, out: /^FIELD +CLASS +FROM +TO\nevictionHard\.nodefs\.inodesFree +needs-drain +5% +15%\n$/, err: /^dkc: ev1\.yaml and ev2\.yaml differ in 1 field\n$/ },
  { argv: 'diff ev1.yaml ev2.yaml -o json', code: 1, json: [{ field: 'evictionHard.nodefs.inodesFree', class: 'needs-drain', from: '5%', to: '15%' }] },
  { argv: 'diff - -', code: 2, err: /^dkc: diff: only one/ },
  { argv: 'render broken.yaml', code: 3, err: /^dkc: Cannot read the kubelet configuration in \/nowhere\/broken\.yaml/ },
  { argv: 'render good.yaml', code: 0, out: /^(?=[^]*^maxPods: 120$)(?=[^]*^registerNode: true$)/m },
  { argv: 'render', code: 0, out: /^maxPods: 99$/m },
  { argv: 'render good.yaml --merge=overlay', code: 0, out: /^(?=[^]*^maxPods: 120$)(?=[^]*^staticPodPath: \/var\/lib\/kubelet\/manifests$)/m },
  { argv: 'why maxPods -o json', code: 0, json: [maxPods] },
  { argv: 'why authentication', code: 0, out: /^authentication\.anonymous\.enabled .* default .*\nauthentication\./m },
  { argv: 'why readOnlyPort', code: 0, out: /readOnlyPort +0 +default/ },
  { argv: 'why maxPod', code: 2, err: /^dkc: why: kubelet 1\.30 has no field maxPod; did you mean maxPods\?\n$/ },
  { argv: 'why maxPods -o json', agent: flags, code: 0, json: [{ ...maxPods, value: 50, origin: 'flag', shadowed: true }] },
  { argv: 'why maxPods -o json', agent: dropIns, code: 0, json: [{ ...maxPods, value: 7, origin: 'drop-in', file: '/conf.d/10.conf' }] },
  { argv: 'why maxPods', agent: flags, code: 0, out: /by a flag/ },
  { argv: 'why maxPods', agent: dropIns, code: 0, out: /drop-in \/conf\.d\/10\.conf/ },
  { argv: 'why deploy/web', code: 2, err: /objects that can be explained: dkc why po\/NAME/ },
  { argv: 'why tlsCertFile --configz=/same', agent: modern, code: 0, out: /RUNNING +DIFFERS\ntlsCertFile .*\/pki\/kubelet\.crt/, err: /^$/ },
  { argv: 'why --configz=/differs', agent: modern, code: 1, err: /runs with values that differ from its configuration: .*maxPods/ },
  { argv: 'why maxPods --configz=/differs -o json', agent: modern, code: 1, json: [{ ...maxPods, running: 7, differs: true }] },
  { argv: 'why --configz=/status', agent: modern, code: 3, err: /Cannot read the answer of \/configz in \/status: .*has no kubeletconfig/ },
  { argv: 'why maxPods --configz', agent: modern, code: 2 },
]; // prettier-ignore
for (const { argv, stdin, agent, code, out, json, err } of rows)
  test(`dkc ${argv}${agent ? `, with ${agent.replace(settings, 'kubelet').replaceAll('\n', ' ')}` : ''} ends with ${code}`, async () => {
    const ran = await run(argv, stdin, agent);
    assert.equal(ran.code, code, ran.stderr);
    if (code > 1) assert.deepEqual([ran.stdout, ran.stderr.trimEnd().split('\n').length], ['', 1]);
    if (out !== undefined) assert.match(ran.stdout, out);
    if (json !== undefined) assert.deepEqual(JSON.parse(ran.stdout), json);
    if (err !== undefined) assert.match(ran.stderr, err);
  });

interface Data {
  errors: { field: string; message: string; line?: number }[];
  warnings: { field: string; message: string; line?: number }[];
}
const validated = async (argv: string, stdin = ''): Promise<Data> =>
  JSON.parse((await run(`validate ${argv} -o json`, stdin)).stdout) as Data;

test('all problems of a file come at once, each with its line: what does not decode, gates, what ends a kubelet, and its own rules', async () => {
  const { errors } = await validated('many.yaml');
  const places = errors.map(({ field, line }) => `${field}:${line}`).toSorted();
  assert.deepEqual(places, ['evictionHard.memory.available:7', 'featureGates.NodeSwapp:9', 'imageGCLowThresholdPercent:10', 'maxPods:3', 'syncFrequency:4', 'tlsCipherSuites:5']); // prettier-ignore
  assert.match(errors.find(({ field }) => field.startsWith('featureGates'))?.message ?? '', /did you mean NodeSwap\?$/);
});

const broken = [
  { why: 'a tab', text: `${head}evictionHard:\n\tmemory.available: 1Gi\n`, says: /line 4, column 1: a tab where YAML requires spaces/ },
  { why: 'two keys on a line', text: `${head}maxPods: a: b\n`, says: /line 3, column \d+: a colon and a space inside of a value/ },
  { why: 'JSON with a comma too many', text: '{\n "kind": "KubeletConfiguration",\n}', says: /line 3, column 1: unexpected character/ },
  { why: 'half a JSON', text: '{"kind":\n', says: /line 2, column 1: the text ends too early/ },
];
for (const { why, text, says } of broken)
  test(`${why}: said in words, with line and column`, async () => {
    const [error] = (await validated('-', text)).errors;
    assert.match(error?.message ?? '', says);
    assert.equal(error?.line, Number(/line (\d+)/.exec(error?.message ?? '')?.[1]));
  });

test('a file of very many problems lists a hundred, and counts the others', async () => {
  const gates = Array.from({ length: 15_000 }, (_, n) => `  G${n}: true\n`).join('');
  const { errors } = await validated('-', `${head}featureGates:\n${gates}`);
  assert.deepEqual([errors.length, errors.at(-1)?.message], [101, 'and 14900 more']);
});

test('who may not read agent.yaml works on files all the same, and is told; on the node root is asked for', async () => {
  const plain = memoryDisk(files);
  const denied = Object.assign(new Error("EACCES: permission denied, open '/etc/dkc/agent.yaml'"), { code: 'EACCES' });
  const disk = {
    ...plain,
    readLinked: async (path: string) => (path === '/etc/dkc/agent.yaml' ? Promise.reject(denied) : plain.readLinked(path)),
  };
  const accepted = await runCli(['validate', 'good.yaml', '--kubelet-version=1.30'], { disk });
  assert.deepEqual([accepted.code, accepted.stderr], [0, 'dkc: note: /etc/dkc/agent.yaml is not used: permission denied\n']);
  const rendered = await runCli(['render'], { disk });
  assert.equal(rendered.code, 3);
  assert.match(rendered.stderr, /^dkc: Cannot read \/etc\/dkc\/agent\.yaml: permission denied: run this as root/);
});

test('why --configz asks the API server for what the kubelet runs with', async () => {
  const asked: string[] = [];
  const raw = async (method: string, path: string): Promise<object> => (asked.push(`${method} ${path}`), { kubeletconfig: { maxPods: 7 } });
  const connect = async () => ({ raw, close: async () => {} }) as unknown as Client;
  const disk = memoryDisk({ ...files, '/etc/dkc/agent.yaml': modern });
  assert.equal((await runCli(['why', '--configz', 'maxPods', '--kubeconfig=/admin'], { disk, connect })).code, 1);
  assert.deepEqual(asked, ['GET /api/v1/nodes/node-a/proxy/configz']);
});

test('where nothing is known of the machine the assumed version is remarked in the one line of stderr, and why claims nothing', async () => {
  const { '/nowhere/good.yaml': good, '/nowhere/other.yaml': other } = files;
  const bare = (argv: string): Promise<Ran> => runCli(argv.split(' '), { disk: memoryDisk({ '/nowhere/good.yaml': good, '/nowhere/other.yaml': other }) }); // prettier-ignore
  assert.match((await bare('validate good.yaml')).stderr, /^dkc: note: validated for kubelet 1\.37 \(latest known\).*\n$/);
  assert.match(
    (await bare('diff good.yaml other.yaml')).stderr,
    /^dkc: good\.yaml and other\.yaml differ in 2 fields; validated for kubelet 1\.37.*\n$/,
  );
  const { code, stdout, stderr } = await bare('why maxPods');
  assert.deepEqual([code, stdout], [3, '']);
  assert.match(stderr, /neither it nor a store .* exists on this machine/);
});
