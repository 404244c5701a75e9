import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryDisk } from '../../../support/memory-disk.ts';
import { runCli, type Ran } from '../../../support/cli-context.ts';

const head = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const files = {
  '/nowhere/good.yaml': `${head}maxPods: 120\n`,
  '/nowhere/typos.yaml': `${head}maxpods: 5\nMaxPods: 6\npodPidsLimt: 7\nmaxPods: 8\nmaxPods: 9\nauthentication:\n  x509:\n    clientCaFile: /ca\n`,
  '/nowhere/many.yaml': `${head}maxPods: -3\nsyncFrequency: 5\ntlsCipherSuites: [foo]\nevictionHard:\n  memory.available: 1Qi\nfeatureGates:\n  NodeSwapp: true\nimageGCLowThresholdPercent: 95\n`,
  '/nowhere/pods.yaml': `${head}cgroupDriver: systemdd\nclusterDNS: [10.0.0.10, 10.0.0]\nevictionHard: {memory.available: 99%}\ncontainerRuntimeEndpoint: unix:///run/no.sock\n`,
  '/nowhere/reserved.yaml': `${head}systemReserved: {cpu: "900"}\nkubeReserved: {memory: 900Gi}\n`,
  '/etc/dkc/agent.yaml': 'kubeletVersion: 1.30\nkubeletUnit: ""\n',
  '/var/lib/kubelet/config.yaml': `${head}maxPods: 99\n`,
  '/etc/resolv.conf': '',
  '/proc/meminfo': 'MemTotal:       16384000 kB\n',
  '/sys/devices/system/cpu/online': '0-3\n',
};
const run = (argv: string, stdin = ''): Promise<Ran> =>
  runCli(argv.split(' '), { disk: memoryDisk(files), stdin: async () => new TextEncoder().encode(stdin) });

interface Data {
  valid: boolean;
  errors: { field: string; rule: string; message: string; line?: number }[];
  warnings: { field: string; message: string; line?: number }[];
}
async function validated(argv: string, stdin = ''): Promise<Data> {
  return JSON.parse((await run(`validate ${argv} -o json`, stdin)).stdout) as Data;
}
const places = (found: readonly { field: string; line?: number }[]): string[] => found.map(({ field, line }) => `${field}:${line}`);

test('all problems of a file come at once: what does not decode, gates, what ends a kubelet, and its own rules', async () => {
  const { errors } = await validated('many.yaml');
  assert.deepEqual(places(errors).toSorted(), [
    'evictionHard.memory.available:7',
    'featureGates.NodeSwapp:9',
    'imageGCLowThresholdPercent:10',
    'maxPods:3',
    'syncFrequency:4',
    'tlsCipherSuites:5',
  ]);
  assert.match(errors.find(({ field }) => field.startsWith('featureGates'))?.message ?? '', /did you mean NodeSwap\?$/);
});

test('a name that was probably meant is said, and of a duplicate key the line that counts', async () => {
  const { valid, warnings } = await validated('typos.yaml');
  assert.equal(valid, true);
  const meant = warnings.map(({ field, line, message }) => `${field}:${line} ${/did you mean (.*)\?$/.exec(message)?.[1] ?? '-'}`);
  assert.deepEqual(meant.toSorted(), [
    'MaxPods:4 maxPods',
    'authentication.x509.clientCaFile:10 clientCAFile',
    'maxPods:7 -',
    'maxpods:3 maxPods',
    'podPidsLimt:5 podPidsLimit',
  ]);
});

test('with --strict what a file is warned of is an error, what this machine lacks is not', async () => {
  const typos = await validated('typos.yaml --strict');
  assert.deepEqual([typos.valid, typos.errors.length, typos.warnings.length], [false, 5, 0]);
  const pods = await validated('pods.yaml --strict');
  assert.deepEqual(pods.warnings.map(({ field }) => field), ['containerRuntimeEndpoint']); // prettier-ignore
});

test('what depends on this machine says so, and what it would be on such a node', async () => {
  const { warnings } = await validated('pods.yaml');
  const socket = warnings.find(({ field }) => field === 'containerRuntimeEndpoint');
  assert.match(socket?.message ?? '', /that is not on this machine: .* \(an error on such a node\)$/);
  const reserved = await validated('reserved.yaml');
  assert.deepEqual(reserved.warnings.map(({ message }) => message).toSorted(), [
    'kubeReserved.memory reserves more memory than this machine has (an error on such a node)',
    'systemReserved.cpu reserves more CPU than this machine has (an error on such a node)',
  ]);
});

describe('several files', () => {
  test('are an array in json, each with its name, and one that is bad makes 1', async () => {
    const { code, stdout, stderr } = await run('validate good.yaml many.yaml - -o json', `${head}maxPods: -1\n`);
    assert.equal(code, 1);
    assert.match(stderr, /^dkc: many\.yaml, standard input are not valid for kubelet 1\.30: 7 errors\n$/);
    const found = (JSON.parse(stdout) as (Data & { file: string })[]).map(({ file, valid, errors }) => `${file} ${valid} ${errors.length}`);
    assert.deepEqual(found, ['good.yaml true 0', 'many.yaml false 6', '- false 1']);
    assert.equal((await run('validate good.yaml good.yaml')).code, 0);
  });
  test('stand below their names for people', async () => {
    const { stdout } = await run('validate good.yaml many.yaml');
    assert.match(stdout, /^good\.yaml:\nValid for kubelet 1\.30\.\n\nmany\.yaml:\nLEVEL +FIELD +LINE +MESSAGE\n/);
  });
  test('may name standard input once', async () => {
    assert.equal((await run('validate - -')).code, 2);
  });
});

const broken = [
  { why: 'a tab', text: `${head}evictionHard:\n\tmemory.available: 1Gi\n`, says: /line 4, column 1: a tab where YAML requires spaces/ },
  { why: 'two keys on a line', text: `${head}maxPods: a: b\n`, says: /line 3, column \d+: a colon and a space inside of a value/ },
  { why: 'JSON with a comma too many', text: '{\n "kind": "KubeletConfiguration",\n}', says: /line 3, column 1: unexpected character/ },
  { why: 'half a JSON', text: '{"kind":\n', says: /line 2, column 1: the text ends too early/ },
];
for (const { why, text, says } of broken) {
  test(`${why}: said in words, with line and column`, async () => {
    const { errors } = await validated('-', text);
    const [error] = errors;
    assert.match(error?.message ?? '', says);
    assert.equal(error?.line, Number(/line (\d+)/.exec(error?.message ?? '')?.[1]));
    assert.doesNotMatch(error?.message ?? '', /[A-Z]+_[A-Z]+/, 'a code of the library');
  });
}

test('a file of a hundred thousand problems lists a hundred, and counts the others', async () => {
  const gates = Array.from({ length: 15_000 }, (_, n) => `  G${n}: true\n`).join('');
  const { code, stdout, stderr } = await run('validate - -o json', `${head}featureGates:\n${gates}`);
  assert.equal(code, 1);
  const { errors } = JSON.parse(stdout) as Data;
  assert.deepEqual([errors.length, errors.at(-1)?.message], [101, 'and 14900 more']);
  assert.match(stderr, /: 15000 errors/);
});

test('why prints values that are false, 0 or empty', async () => {
  const value = async (field: string) => (JSON.parse((await run(`why ${field} -o json`)).stdout) as { value: unknown }[])[0]?.value;
  assert.deepEqual([await value('readOnlyPort'), await value('rotateCertificates'), await value('evictionSoft')], [0, false, null]);
});

test('why does not claim that something is in force on a machine that is no node', async () => {
  const nothing = { disk: memoryDisk({}) };
  const { code, stdout, stderr } = await runCli(['why', 'maxPods'], nothing);
  assert.deepEqual([code, stdout], [3, '']);
  assert.match(stderr, /neither it nor a store .* exists on this machine/);
  assert.equal((await runCli(['why', 'maxPod'], nothing)).code, 2);
});
