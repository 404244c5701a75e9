import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HostFacts } from '../../../../../agent/config/contract.ts';
import { preflighted } from '../../../../support/preflighted.ts';

// Everything known to pass the kubelet's validation and then to end it, or to keep it from ever being healthy. `is` names what preflight
// says, as `field rule`; a row without it says why nobody can see it before the kubelet starts: the trial finds those.
interface Row {
  why: string;
  text: string;
  host?: HostFacts;
  args?: string[];
  finds: 'error' | 'warning' | 'nothing';
  is?: string;
}

const FILE = (there: 'missing' | 'unreadable' | 'file'): HostFacts => ({ paths: { '/f': there } });
const v134: Row[] = [
  { why: 'swap is on', text: '', host: { swapOn: true }, finds: 'error', is: 'failSwapOn swap' },
  { why: 'swap may be on, as on any host: a warning with every config would be noise', text: 'failSwapOn: true', finds: 'nothing' },
  {
    why: 'kernel settings differ',
    text: 'protectKernelDefaults: true',
    host: { sysctls: { 'kernel/panic': '0' } },
    finds: 'error',
    is: 'protectKernelDefaults sysctl',
  },
  { why: 'kernel settings may differ', text: 'protectKernelDefaults: true', finds: 'warning', is: 'protectKernelDefaults sysctl' },
  { why: 'the CPU policy is unknown', text: 'cpuManagerPolicy: x', finds: 'error', is: 'cpuManagerPolicy cpu-manager-policy' },
  {
    why: 'the CPU policy static reserves nothing',
    text: 'cpuManagerPolicy: static',
    host: { cpuManagerState: { policyName: 'static' } },
    finds: 'error',
    is: 'cpuManagerPolicy cpu-manager-reserved',
  },
  {
    why: 'the CPU policy changes under its state file',
    text: 'cpuManagerPolicy: static\nkubeReserved: {cpu: 1m}',
    host: { cpuManagerState: { policyName: 'none' } },
    finds: 'error',
    is: 'cpuManagerPolicy cpu-manager-state',
  },
  {
    why: 'the CPU policy may change under a state file',
    text: 'cpuManagerPolicy: static\nkubeReserved: {cpu: 1m}',
    finds: 'warning',
    is: 'cpuManagerPolicy cpu-manager-state',
  },
  {
    why: 'the CPU policy goes back to none under a state file',
    text: 'cpuManagerPolicy: none',
    host: { cpuManagerState: { policyName: 'static' } },
    finds: 'error',
    is: 'cpuManagerPolicy cpu-manager-state',
  },
  {
    why: 'the memory policy is unknown',
    text: 'memoryManagerPolicy: static',
    finds: 'error',
    is: 'memoryManagerPolicy memory-manager-policy',
  },
  {
    why: 'the memory policy changes under its state file',
    text: '',
    host: { memoryManagerState: { policyName: 'Static' } },
    finds: 'error',
    is: 'memoryManagerPolicy memory-manager-state',
  },
  {
    why: 'reserved memory names an absent NUMA node',
    text: 'memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 1, limits: {memory: 100Mi}}]',
    host: { numaNodes: [0] },
    finds: 'error',
    is: 'reservedMemory numa',
  },
  {
    why: 'reserved memory may name an absent NUMA node',
    text: 'memoryManagerPolicy: Static\nreservedMemory: [{numaNode: 1, limits: {memory: 100Mi}}]',
    host: { paths: {} },
    finds: 'warning',
    is: 'reservedMemory numa',
  },
  {
    why: 'reserved memory does not add up',
    text: 'memoryManagerPolicy: Static\nreservedMemory: [{limits: {memory: 1Mi}}]',
    host: { numaNodes: [0] },
    finds: 'error',
    is: 'reservedMemory memory-manager-sum',
  },
  {
    why: 'an option of the CPU policy is unknown',
    text: 'cpuManagerPolicy: static\nkubeReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {x: "true"}',
    host: { swapOn: false },
    finds: 'error',
    is: 'cpuManagerPolicyOptions.x policy-option',
  },
  {
    why: 'an option of the CPU policy needs a gate',
    text: 'cpuManagerPolicy: static\nkubeReserved: {cpu: 1m}\ncpuManagerPolicyOptions: {align-by-socket: "true"}',
    host: { swapOn: false },
    finds: 'error',
    is: 'cpuManagerPolicyOptions.align-by-socket policy-option',
  },
  {
    why: 'an option of the topology policy is unknown',
    text: 'topologyManagerPolicyOptions: {x: "true"}',
    finds: 'error',
    is: 'topologyManagerPolicyOptions.x policy-option',
  },
  { why: 'a kind cannot be reserved', text: 'systemReserved: {gpu: "1"}', finds: 'error', is: 'systemReserved.gpu reserved-kind' },
  { why: 'a reservation is no quantity', text: 'kubeReserved: {cpu: abc}', finds: 'error', is: 'kubeReserved.cpu quantity' },
  { why: 'a reservation is negative', text: 'systemReserved: {cpu: "-1"}', finds: 'error', is: 'systemReserved.cpu quantity' },
  {
    why: 'an eviction signal is unknown',
    text: 'evictionHard: {memory.free: 1Gi}',
    finds: 'error',
    is: 'evictionHard.memory.free eviction-signal',
  },
  {
    why: 'an eviction share is over 100%',
    text: 'evictionHard: {memory.available: 101%}',
    finds: 'error',
    is: 'evictionHard.memory.available eviction-percent',
  },
  {
    why: 'an eviction threshold is no quantity',
    text: 'evictionHard: {memory.available: 1Xi}',
    finds: 'error',
    is: 'evictionHard.memory.available quantity',
  },
  {
    why: 'an eviction threshold is zero',
    text: 'evictionHard: {memory.available: "0"}',
    finds: 'error',
    is: 'evictionHard.memory.available eviction-positive',
  },
  {
    why: 'a soft threshold has no grace period',
    text: 'evictionSoft: {memory.available: 1Gi}',
    finds: 'error',
    is: 'evictionSoft.memory.available eviction-grace',
  },
  {
    why: 'a grace period is negative',
    text: 'evictionSoft: {memory.available: 1Gi}\nevictionSoftGracePeriod: {memory.available: -1s}',
    finds: 'error',
    is: 'evictionSoftGracePeriod.memory.available eviction-grace',
  },
  {
    why: 'a kind has no quality-of-service share',
    text: 'featureGates: {QOSReserved: true}\nqosReserved: {cpu: 50%}',
    finds: 'error',
    is: 'qosReserved.cpu qos-kind',
  },
  {
    why: 'a quality-of-service share is over 100%',
    text: 'featureGates: {QOSReserved: true}\nqosReserved: {memory: 101%}',
    finds: 'error',
    is: 'qosReserved.memory qos-percent',
  },
  { why: 'quality-of-service shares are not read without their gate', text: 'qosReserved: {memory: x%}', finds: 'nothing' },
  { why: 'the authorization mode is unknown', text: 'authorization: {mode: x}', finds: 'error', is: 'authorization.mode enum' },
  {
    why: 'the CA file is missing',
    text: 'authentication: {x509: {clientCAFile: /f}}',
    host: FILE('missing'),
    finds: 'error',
    is: 'authentication.x509.clientCAFile file',
  },
  {
    why: 'the CA file may be missing',
    text: 'authentication: {x509: {clientCAFile: /f}}',
    finds: 'warning',
    is: 'authentication.x509.clientCAFile file',
  },
  {
    why: 'the CA file is hidden from the agent',
    text: 'authentication: {x509: {clientCAFile: /f}}',
    host: FILE('unreadable'),
    finds: 'warning',
    is: 'authentication.x509.clientCAFile file',
  },
  {
    why: 'the CA file holds no certificate: files are not opened',
    text: 'authentication: {x509: {clientCAFile: /f}}',
    host: FILE('file'),
    finds: 'nothing',
  },
  { why: 'a cipher suite is unknown', text: 'tlsCipherSuites: [x]', finds: 'error', is: 'tlsCipherSuites cipher' },
  { why: 'the TLS version is unknown', text: 'tlsMinVersion: x', finds: 'error', is: 'tlsMinVersion tls-version' },
  {
    why: 'the change detection is unknown',
    text: 'configMapAndSecretChangeDetectionStrategy: x',
    finds: 'error',
    is: 'configMapAndSecretChangeDetectionStrategy enum',
  },
  { why: 'the runtime does not answer: it may be restarting', text: 'containerRuntimeEndpoint: unix:///no.sock', finds: 'nothing' },
  { why: 'the cgroup driver is not that of the runtime, who is not asked', text: 'cgroupDriver: systemd', finds: 'nothing' },
  { why: 'a port is in use, as it is by the kubelet that still runs', text: 'port: 22', finds: 'nothing' },
  { why: 'two ports are the same', text: 'readOnlyPort: 10248', finds: 'error', is: 'healthzPort port-clash' },
  {
    why: 'cgroup v1 is refused and there',
    text: 'failCgroupV1: true',
    host: { cgroupVersion: 1 },
    finds: 'error',
    is: 'failCgroupV1 cgroup-v1',
  },
  { why: 'cgroup v1 is refused and may be there', text: 'failCgroupV1: true', finds: 'warning', is: 'failCgroupV1 cgroup-v1' },
  {
    why: 'swap is limited on cgroup v1',
    text: 'memorySwap: {swapBehavior: LimitedSwap}',
    host: { cgroupVersion: 1 },
    finds: 'error',
    is: 'memorySwap.swapBehavior cgroup-v1',
  },
];

// Each of these was seen to end a kubelet 1.20.2, or to leave it alive.
const v120: Row[] = [
  { why: 'the CPU policy is unknown', text: 'cpuManagerPolicy: foo', finds: 'error', is: 'cpuManagerPolicy cpu-manager-policy' },
  {
    why: 'the TLS certificate is missing',
    text: 'tlsCertFile: /f\ntlsPrivateKeyFile: /g',
    host: { paths: { '/f': 'missing', '/g': 'file' } },
    finds: 'error',
    is: 'tlsCertFile file',
  },
  { why: 'a log size is no quantity', text: 'containerLogMaxSize: abc', finds: 'error', is: 'containerLogMaxSize quantity' },
  { why: 'there is only one log file', text: 'containerLogMaxFiles: 1', finds: 'error', is: 'containerLogMaxFiles log-files' },
  {
    why: 'a quality-of-service share is no number',
    text: 'featureGates: {QOSReserved: true}\nqosReserved: {memory: x%}',
    finds: 'error',
    is: 'qosReserved.memory qos-percent',
  },
  {
    why: 'reserved CPUs are absent',
    text: 'reservedSystemCPUs: 90-95',
    host: { onlineCpus: [0, 1] },
    finds: 'error',
    is: 'reservedSystemCPUs cpuset-host',
  },
  { why: 'reserved CPUs may be absent', text: 'reservedSystemCPUs: 90-95', finds: 'warning', is: 'reservedSystemCPUs cpuset-host' },
  {
    why: 'the root of cgroups is missing, which may be made before the kubelet starts',
    text: 'cgroupRoot: /no',
    host: { cgroupVersion: 1, paths: { '/sys/fs/cgroup/memory/no': 'missing', '/sys/fs/cgroup/memory/no.slice': 'missing' } },
    finds: 'warning',
    is: 'cgroupRoot cgroup',
  },
  {
    why: 'the cgroup of the kubelet is missing, which its unit may make',
    text: 'kubeReservedCgroup: /no\nenforceNodeAllocatable: [kube-reserved]',
    host: { cgroupVersion: 1 },
    finds: 'warning',
    is: 'kubeReservedCgroup cgroup',
  },
  {
    why: 'the runtime has no time to answer',
    text: 'runtimeRequestTimeout: 1ns',
    finds: 'error',
    is: 'runtimeRequestTimeout runtime-timeout',
  },
  { why: 'the address is a name', text: 'address: foo', finds: 'error', is: 'address ip' },
  {
    why: 'the address is of another host',
    text: 'address: 192.0.2.1',
    host: { addresses: ['192.0.2.2'] },
    finds: 'error',
    is: 'address address',
  },
  { why: 'the address may be of another host', text: 'address: 192.0.2.1', finds: 'warning', is: 'address address' },
  {
    why: 'more is reserved than there is',
    text: 'systemReserved: {memory: 2Gi}',
    host: { memoryBytes: 1n << 30n },
    finds: 'error',
    is: 'systemReserved.memory reserved-capacity',
  },
  {
    why: 'more CPU is reserved than there is',
    text: 'kubeReserved: {cpu: "3"}',
    host: { onlineCpus: [0, 1] },
    finds: 'error',
    is: 'kubeReserved.cpu reserved-capacity',
  },
  {
    why: 'the address of healthz is a name, so that it is never healthy',
    text: 'healthzBindAddress: foo',
    finds: 'error',
    is: 'healthzBindAddress ip',
  },
  {
    why: 'webhooks have no API server to ask',
    text: 'authorization: {mode: AlwaysAllow}',
    args: ['--root-dir=/x'],
    finds: 'error',
    is: 'authentication.webhook.enabled api-client',
  },
  {
    why: 'the authorization has no API server to ask',
    text: 'authentication: {webhook: {enabled: false}}',
    args: ['--root-dir=/x'],
    finds: 'error',
    is: 'authorization.mode api-client',
  },
  { why: 'webhooks have an API server to ask', text: '', args: ['--kubeconfig', '/k'], finds: 'nothing' },
  { why: 'a field is unknown: it lives', text: 'unknown: 1', finds: 'nothing' },
  {
    why: 'a DNS server is a name: it lives, and pods have none',
    text: 'clusterDNS: [foo]',
    finds: 'warning',
    is: 'clusterDNS cluster-dns',
  },
  {
    why: 'the folder of static pods is missing: it lives',
    text: 'staticPodPath: /no',
    host: { paths: { '/no': 'missing' } },
    finds: 'nothing',
  },
  { why: 'frequencies are negative: it lives', text: 'syncFrequency: -1s\nfileCheckFrequency: -1s', finds: 'nothing' },
  {
    why: 'the cgroup driver is unknown: it lives, as with cgroupfs',
    text: 'cgroupDriver: foo',
    finds: 'warning',
    is: 'cgroupDriver cgroup-driver',
  },
  { why: 'many files may be open: it lives', text: 'maxOpenFiles: 9000000000', finds: 'nothing' },
  { why: 'it is the first to be killed: it lives', text: 'oomScoreAdj: 1000', finds: 'nothing' },
];

for (const [minor, rows] of [
  ['1.34', v134],
  ['1.20', v120],
] as const) {
  for (const { why, text, host, args, finds, is } of rows) {
    test(`a kubelet ${minor} where ${why}: preflight finds ${finds}`, () => {
      // resolvConf is only a warning and on many hosts, so it is out of the way
      assert.deepEqual(preflighted(`resolvConf: ""\n${text}`, host, minor, args), {
        errors: finds === 'error' ? [is] : [],
        warnings: finds === 'warning' ? [is] : [],
      });
    });
  }
}
