import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { preflighted } from '../../../../support/preflighted.ts';

/** What is known of the host and its kubelet, which is one of 1.34 unless said. */
type Known = HostFacts & { minor?: string; args?: string[] };

/** @param finds - `FIELD RULE` for an error, `~FIELD RULE` for a warning; several have commas between them */
function finds(name: string, text: string, finds = '', { minor, args, ...host }: Known = {}): void {
  const all = finds === '' ? [] : finds.split(', ');
  const errors = all.filter((one) => !one.startsWith('~'));
  const warnings = all.filter((one) => one.startsWith('~')).map((one) => one.slice(1));
  test(name, () => assert.deepEqual(preflighted(`resolvConf: ""\n${text}`, host, minor, args), { errors, warnings }));
}

const NONE = { swapOn: false } satisfies HostFacts; // something is known of the host, but nothing that matters
const GIB = { memoryBytes: 1n << 30n } satisfies HostFacts;
const TOPOLOGY = 'topologyManagerPolicy: best-effort\n';
const NUMA_NODES = 'topologyManagerPolicyOptions.max-allowable-numa-nodes policy-option';
const STATIC = 'cpuManagerPolicy: static\n';
const RESERVED = `${STATIC}systemReserved: {cpu: 1m}\n`;
const SWAP = 'featureGates: {NodeSwap: true}\nmemorySwap: {swapBehavior: LimitedSwap}';
const option = (name: string): string => `cpuManagerPolicyOptions.${name} policy-option`;
const CA = 'authentication: {x509: {clientCAFile: /etc/ca.crt}}';

// Both sides of every limit in preflight: what just passes, and what just does not.
// prettier-ignore
const edges: [text: string, finds?: string, known?: Known][] = [
  ['evictionHard: {memory.available: -1%}', 'evictionHard.memory.available eviction-percent'],
  ['evictionMinimumReclaim: {memory.available: "-1"}', 'evictionMinimumReclaim.memory.available eviction-positive'],
  ['evictionHard: {containerfs.available: 1Gi}', 'evictionHard.containerfs.available eviction-signal', { minor: '1.28' }],
  [`${STATIC}kubeReserved: {cpu: "0"}`, 'cpuManagerPolicy cpu-manager-reserved', NONE],
  [`${RESERVED}cpuManagerPolicyOptions: {full-pcpus-only: maybe}`, option('full-pcpus-only'), NONE],
  [`${TOPOLOGY}topologyManagerPolicyOptions: {max-allowable-numa-nodes: "7"}`, NUMA_NODES],
  ['featureGates: {MemoryManager: false}\nmemoryManagerPolicy: foo', '', { minor: '1.31' }],
  ['systemReserved: {memory: 925Mi}', 'systemReserved.memory reserved-capacity', GIB],
  ['systemReserved: {ephemeral-storage: 1Gi}', 'systemReserved.ephemeral-storage reserved-capacity', { diskBytes: 1n << 30n }],
  [
    'kubeReserved: {memory: 900Gi, cpu: "1"}\nsystemReserved: {cpu: "900", memory: 1Mi}',
    'kubeReserved.memory reserved-capacity, systemReserved.cpu reserved-capacity',
    { ...GIB, onlineCpus: [0, 1] },
  ],
  ['kubeReserved: {memory: 600Mi}\nsystemReserved: {memory: 600Mi}', 'kubeReserved.memory reserved-capacity', GIB],
  [`${STATIC}reservedSystemCPUs: "0"`, '', { onlineCpus: [0] }],
  ['reservedSystemCPUs: 0-2', 'reservedSystemCPUs cpuset-host', { onlineCpus: [0, 2] }],
  ['readOnlyPort: 0\nhealthzPort: 0', '~healthzPort healthz-off'],
  ['readOnlyPort: 10255', 'readOnlyPort port-taken', { listening: [{ address: '::', port: 10_255 }] }],
  ['enableServer: false', '~enableServer server-off', { listening: [{ address: '127.0.0.1', port: 10_250 }] }],
  ['address: "2001:db8::1::2"', 'address ip'],
  ['tlsCipherSuites: [TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_256_GCM_SHA384]', 'tlsCipherSuites http2-cipher'],
  [
    'featureGates: {DefaultPodSysctls: true}\ndefaultPodSysctls: {vm.swappiness: "10"}',
    '~defaultPodSysctls sysctl-namespace',
    { minor: '1.37', cgroupVersion: 2 },
  ],
  ['singleProcessOOMKill: false', 'singleProcessOOMKill cgroup-v1', { cgroupVersion: 1 }],
  [SWAP, 'memorySwap.swapBehavior cgroup-v1', { minor: '1.28', cgroupVersion: 1 }],
  ['qosReserved: {memory: x%}', 'qosReserved.memory qos-percent', { args: ['--kubeconfig=/k', '--feature-gates=QOSReserved=true'] }],
  [CA, 'authentication.x509.clientCAFile file', { paths: { '/etc/ca.crt': 'missing' } }],
  [CA, '~authentication.x509.clientCAFile file', { paths: { '/etc/ca.crt': 'unreadable' } }],
  ['runtimeRequestTimeout: 9999us', 'runtimeRequestTimeout runtime-timeout'],
  ['runtimeRequestTimeout: 999ms', '~runtimeRequestTimeout runtime-timeout'],
];

for (const [at, [text, ...rest]] of edges.entries())
  finds(`preflight at an edge, ${at}: ${text.replaceAll('\n', ' ')} ${rest[1]?.minor ?? '1.34'}`, text, ...rest);

const HUGE = 'reservedMemory: [{limits: {memory: 100Mi, hugepages-2Mi: 4Mi}}]';
const GIVEN = 'reservedMemory: [{limits: {memory: 1Gi}}]';
const LEAST = 'reservedMemory: [{limits: {memory: 100Mi}}]'; // what evictionHard keeps by default
const ALL = `kubeReserved: {memory: 1Gi}\n${GIVEN}`;
const STATE = { policyName: 'Static', reserved: { 0: 100n << 20n } };
const SUM = 'reservedMemory memory-manager-sum';
/** Of a host with NUMA nodes 0 and 1 unless said. */
// prettier-ignore
const memory: [why: string, text: string, finds?: string, known?: Known][] = [
  ['refuses a sum that is too large', `evictionHard: {memory.available: 25%}\nreservedMemory: [{limits: {memory: 2Gi}}]`, SUM, { numaNodes: [0], memoryBytes: 4n << 30n }],
  ["counts evictionHard's default", LEAST],
  ['refuses a sum that lacks it', ALL, SUM],
  ['counts the default that is merged', `mergeDefaultEvictionSettings: true\nevictionHard: {}\n${LEAST}`],
  ['warns of a share of an unknown memory', `evictionHard: {memory.available: 10%}\n${LEAST}`, `~${SUM}`],
  ['refuses huge pages that are not', HUGE, 'reservedMemory huge-pages', { numaNodes: [0], hugePages: [] }],
  ['keeps to what its state file was written with', LEAST, '', { numaNodes: [0], memoryManagerState: STATE }],
  ['refuses a NUMA node that is not there', 'reservedMemory: [{numaNode: 1, limits: {memory: 100Mi}}]', 'reservedMemory numa', { numaNodes: [0] }],
  ['wants reservedMemory', '', 'memoryManagerPolicy memory-manager-reserved'],
];
for (const [why, text, found, known] of memory)
  finds(`the memory manager's policy Static ${why}`, `memoryManagerPolicy: Static\n${text}`, found, { numaNodes: [0, 1], ...known });

const ENFORCED = 'kubeReservedCgroup: /a/kube-let.slice\nenforceNodeAllocatable: [pods, kube-reserved]\nkubeReserved: {memory: 1Mi}\n';
const gone = { '/sys/fs/cgroup/a/kube-let.slice': 'missing', '/sys/fs/cgroup/kube.slice/kube-let.slice': 'missing' } as const;
const V2 = (there: string): Known => ({ cgroupVersion: 2, paths: { ...gone, [`/sys/fs/cgroup/${there}`]: 'dir' } });
const cgroups: [why: string, text: string, finds?: string, known?: Known][] = [
  ['is missing gives a warning', ENFORCED, '~kubeReservedCgroup cgroup', { cgroupVersion: 2, paths: gone }],
  ['is there for the driver systemd is fine', ENFORCED, '', V2('kube.slice/kube-let.slice')],
  ['is only where version 1 would have it gives a warning', ENFORCED, '~kubeReservedCgroup cgroup', V2('memory/a/kube-let.slice')],
  ['is a root of pods gives a warning', 'cgroupRoot: /k', '~cgroupRoot cgroup'],
];
for (const [why, ...rest] of cgroups) finds(`a cgroup that ${why}`, ...rest);
