import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { preflighted } from '../../../../support/preflighted.ts';

// Both sides of every limit in preflight: what just passes, and what just does not.
interface Edge {
  text: string;
  minor?: string;
  host?: HostFacts;
  args?: string[];
  errors?: string[];
  warnings?: string[];
}
const NONE = { swapOn: false } satisfies HostFacts; // something is known of the host, but nothing that matters
const TOPOLOGY = 'topologyManagerPolicy: best-effort\n';
const NUMA_NODES = 'topologyManagerPolicyOptions.max-allowable-numa-nodes policy-option';
const STATIC = 'cpuManagerPolicy: static\n';
const option = (name: string): string => `cpuManagerPolicyOptions.${name} policy-option`;

const edges: Edge[] = [
  { text: 'evictionHard: {memory.available: 100%, nodefs.available: 0%}' },
  { text: 'evictionHard: {memory.available: -1%}', errors: ['evictionHard.memory.available eviction-percent'] },
  { text: 'evictionHard: {memory.available: "-1"}', errors: ['evictionHard.memory.available eviction-positive'] },
  { text: 'evictionMinimumReclaim: {memory.available: "0"}' },
  { text: 'evictionMinimumReclaim: {memory.available: "-1"}', errors: ['evictionMinimumReclaim.memory.available eviction-positive'] },
  { text: 'evictionHard: {containerfs.available: 1Gi}', minor: '1.29' },
  { text: 'evictionHard: {containerfs.available: 1Gi}', minor: '1.28', errors: ['evictionHard.containerfs.available eviction-signal'] },
  { text: 'evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: 0s}' },

  { text: `${STATIC}reservedSystemCPUs: "0"`, host: { onlineCpus: [0] } },
  { text: `${STATIC}kubeReserved: {cpu: "0"}`, host: NONE, errors: ['cpuManagerPolicy cpu-manager-reserved'] },
  { text: `${STATIC}systemReserved: {cpu: 1m}`, host: NONE },
  { text: 'cpuManagerPolicyOptions: {full-pcpus-only: "true"}', errors: ['cpuManagerPolicyOptions policy-option'] },
  { text: `${STATIC}systemReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}`, host: NONE },
  {
    text: `${STATIC}systemReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {full-pcpus-only: maybe}`,
    host: NONE,
    errors: [option('full-pcpus-only')],
  },
  // 1.22 brought the first option and one gate for all
  {
    text: `featureGates: {CPUManagerPolicyOptions: true}\n${STATIC}systemReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}`,
    minor: '1.22',
    host: NONE,
  },
  {
    text: `${STATIC}systemReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {full-pcpus-only: "true"}`,
    minor: '1.22',
    host: NONE,
    errors: ['cpuManagerPolicyOptions policy-option'],
  },
  {
    text: `featureGates: {CPUManagerPolicyOptions: true}\n${STATIC}systemReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {distribute-cpus-across-numa: "true"}`,
    minor: '1.22',
    host: NONE,
    errors: [option('distribute-cpus-across-numa')],
  },
  { text: `${TOPOLOGY}topologyManagerPolicyOptions: {max-allowable-numa-nodes: "8"}` },
  { text: `${TOPOLOGY}topologyManagerPolicyOptions: {max-allowable-numa-nodes: "7"}`, errors: [NUMA_NODES] },
  { text: `${TOPOLOGY}topologyManagerPolicyOptions: {max-allowable-numa-nodes: x}`, errors: [NUMA_NODES] },
  // the policy none reads no options
  { text: 'topologyManagerPolicyOptions: {max-allowable-numa-nodes: x, foo: bar}' },
  // without its gate a manager reads nothing
  { text: 'featureGates: {CPUManager: false}\ncpuManagerPolicy: foo', minor: '1.25' },
  { text: 'featureGates: {MemoryManager: false}\nmemoryManagerPolicy: foo', minor: '1.31' },
  {
    text: 'featureGates: {MemoryManager: true}\nmemoryManagerPolicy: foo',
    minor: '1.21',
    errors: ['memoryManagerPolicy memory-manager-policy'],
  },
  { text: '', host: { cpuManagerState: { policyName: '' }, memoryManagerState: { policyName: '' } } },

  { text: 'systemReserved: {memory: 924Mi}', host: { memoryBytes: 1n << 30n }, warnings: ['systemReserved.memory reserved-capacity'] },
  // evictionHard keeps 100Mi by default
  { text: 'systemReserved: {memory: 925Mi}', host: { memoryBytes: 1n << 30n }, errors: ['systemReserved.memory reserved-capacity'] },
  { text: 'systemReserved: {memory: 925Mi}\nevictionHard: {memory.available: 100%}', host: { memoryBytes: 1n << 30n } },
  {
    text: 'systemReserved: {ephemeral-storage: 1Gi}',
    host: { diskBytes: 1n << 30n },
    errors: ['systemReserved.ephemeral-storage reserved-capacity'],
  },
  { text: 'localStorageCapacityIsolation: false\nsystemReserved: {ephemeral-storage: 2Gi}', host: { diskBytes: 1n << 30n } },
  {
    text: 'kubeReserved: {memory: 600Mi}\nsystemReserved: {memory: 600Mi}',
    host: { memoryBytes: 1n << 30n },
    errors: ['kubeReserved.memory reserved-capacity'],
  },
  { text: 'systemReserved: {cpu: "2"}', host: { onlineCpus: [0, 1] }, warnings: ['systemReserved.cpu reserved-capacity'] },
  {
    text: 'kubeReserved: {memory: 900Gi, cpu: "1"}\nsystemReserved: {cpu: "900", memory: 1Mi}',
    host: { memoryBytes: 1n << 30n, onlineCpus: [0, 1] },
    errors: ['kubeReserved.memory reserved-capacity', 'systemReserved.cpu reserved-capacity'],
  },
  // reservedSystemCPUs beats what the quantities say
  { text: 'systemReserved: {cpu: "3"}\nreservedSystemCPUs: "0"', host: { onlineCpus: [0, 1] } },
  { text: 'reservedSystemCPUs: 0-2', host: { onlineCpus: [0, 2] }, errors: ['reservedSystemCPUs cpuset-host'] },
  { text: 'containerLogMaxFiles: 1', minor: '1.32', errors: ['containerLogMaxFiles log-files'] },
  { text: 'containerLogMaxSize: "-1"', minor: '1.32', warnings: ['containerLogMaxSize log-size'] },

  { text: '', args: ['--bootstrap-kubeconfig=/b'] },
  { text: '', args: ['--bootstrap_kubeconfig', '/b'] },
  { text: 'readOnlyPort: 0\nhealthzPort: 0', warnings: ['healthzPort healthz-off'] },
  { text: 'readOnlyPort: 10255', host: { listening: [{ address: '::', port: 10_255 }] }, errors: ['readOnlyPort port-taken'] },
  { text: 'readOnlyPort: 10255\naddress: 127.0.0.1', host: { listening: [{ address: '127.0.0.2', port: 10_255 }] } },
  { text: 'enableServer: false', host: { listening: [{ address: '127.0.0.1', port: 10_250 }] }, warnings: ['enableServer server-off'] },
  { text: 'address: "2001:db8::1"', host: { addresses: ['2001:db8::1'] } },
  { text: 'address: "2001:db8::1::2"', errors: ['address ip'] },
  { text: 'address: 256.0.0.1', errors: ['address ip'] },
  { text: 'address: "::"\nhealthzBindAddress: "::1"', host: { addresses: [] } },
  { text: 'tlsCipherSuites: [TLS_AES_128_GCM_SHA256, TLS_RSA_WITH_AES_256_GCM_SHA384]', errors: ['tlsCipherSuites http2-cipher'] },
  { text: 'tlsCipherSuites: [TLS_RSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]' },
  { text: 'tlsMinVersion: VersionTLS13\ntlsCipherSuites: [TLS_RSA_WITH_AES_256_GCM_SHA384]' },
  { text: 'tlsPrivateKeyFile: /k', host: { paths: { '/k': 'file' } }, errors: ['tlsCertFile tls-pair'] },

  { text: 'protectKernelDefaults: true', host: { sysctls: { 'kernel/panic': '10\n' } } },
  { text: 'allowedUnsafeSysctls: [net.core.somaxconn, "kernel.msg*", kernel/sem]' },
  { text: 'allowedUnsafeSysctls: [vm.swappiness]', errors: ['allowedUnsafeSysctls sysctl-namespace'] },
  { text: 'singleProcessOOMKill: false', host: { cgroupVersion: 1 }, errors: ['singleProcessOOMKill cgroup-v1'] },
  { text: 'singleProcessOOMKill: false', warnings: ['singleProcessOOMKill cgroup-v1'] },
  { text: 'singleProcessOOMKill: false', host: { cgroupVersion: 2 } },
  { text: 'featureGates: {NodeSwap: true}\nmemorySwap: {swapBehavior: LimitedSwap}', minor: '1.27', host: { cgroupVersion: 1 } },
  {
    text: 'featureGates: {NodeSwap: true}\nmemorySwap: {swapBehavior: LimitedSwap}',
    minor: '1.28',
    host: { cgroupVersion: 1 },
    errors: ['memorySwap.swapBehavior cgroup-v1'],
  },
  // a gate on the command line counts as one in the text
  {
    text: 'qosReserved: {memory: x%}',
    args: ['--kubeconfig=/k', '--feature-gates=QOSReserved=true'],
    errors: ['qosReserved.memory qos-percent'],
  },
];
for (const [at, { text, minor = '1.34', host, args, errors = [], warnings = [] }] of edges.entries()) {
  test(`preflight at an edge, ${at}: ${text.replaceAll('\n', ' ')} ${minor}`, () =>
    assert.deepEqual(preflighted(`resolvConf: ""\n${text}`, host, minor, args), { errors, warnings }));
}
