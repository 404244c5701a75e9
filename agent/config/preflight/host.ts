import type { Preflight } from '../rules/validation.ts';

/** Kernel settings that protectKernelDefaults requires. */
const SYSCTLS: Readonly<Record<string, string>> = {
  'vm/overcommit_memory': '1',
  'vm/panic_on_oom': '0',
  'kernel/panic': '10',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '1000000',
  'kernel/keys/root_maxbytes': '25000000',
};
/** The kernel settings that preflight reads, as paths below /proc/sys. */
export const preflightSysctls: readonly string[] = Object.keys(SYSCTLS);
const SYSCTL_NAME = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?(?:[./][a-z0-9](?:[-_a-z0-9]*[a-z0-9])?)*$/;
const SYSCTL_PREFIX = /^(?:[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9][-_a-z0-9.]*\*$/;
/** Longest sysctl name in Kubernetes, in characters. */
const MAX_SYSCTL = 253;
/** The sysctls that the kernel namespaces per pod. */
const NAMESPACED = /^(?:kernel[./](?:shm|msg|sem)|fs[./]mqueue[./]|net[./])/;

/** Swap, cgroups and sysctls. */
export function checkHost(flight: Preflight): void {
  const { host } = flight;
  if (flight.flag('failSwapOn') && host.swapOn === true)
    flight.add('failSwapOn', 'swap', 'is true, and swap is on: turn swap off, or set it to false');
  cgroups(flight);
  if (flight.flag('protectKernelDefaults')) {
    const { sysctls } = host;
    if (sysctls === undefined)
      flight.warn('protectKernelDefaults', 'sysctl', 'is true: the kubelet exits if the kernel settings of the node differ from its own');
    else {
      const differing = Object.keys(SYSCTLS).filter((name) => sysctls[name] !== undefined && sysctls[name].trim() !== SYSCTLS[name]);
      if (differing.length > 0)
        flight.add(
          'protectKernelDefaults',
          'sysctl',
          `is true, and these kernel settings differ from what the kubelet wants: ${differing.join(', ')}`,
        );
    }
  } else {
    const { sysctls = {}, readOnlySysctls = [] } = host;
    const stuck = readOnlySysctls.filter((name) => sysctls[name] !== undefined && sysctls[name].trim() !== SYSCTLS[name]);
    if (stuck.length > 0)
      flight.add(
        'protectKernelDefaults',
        'sysctl-read-only',
        `is false, and the kubelet cannot write these kernel settings: ${stuck.join(', ')}`,
      );
  }
  driver(flight);
  for (const pattern of flight.texts('allowedUnsafeSysctls')) {
    // Check the length first: the time of the prefix pattern grows with its square.
    if (pattern.length > MAX_SYSCTL || !(pattern.endsWith('*') ? SYSCTL_PREFIX : SYSCTL_NAME).test(pattern))
      flight.add('allowedUnsafeSysctls', 'sysctl-pattern', 'must hold names of sysctls, or prefixes ending in *');
    else if (!NAMESPACED.test(pattern))
      flight.add('allowedUnsafeSysctls', 'sysctl-namespace', 'may only hold namespaced sysctls, those that are separate for each pod');
  }
  // The kubelet accepts any sysctl; the runtime rejects it in every new pod.
  for (const [name] of flight.minor < SINCE_POD_SYSCTLS ? [] : flight.entries('defaultPodSysctls')) {
    if (name.length > MAX_SYSCTL || !SYSCTL_NAME.test(name))
      flight.warn('defaultPodSysctls', 'sysctl-pattern', 'must hold names of sysctls: no new pod will start');
    else if (!NAMESPACED.test(name))
      flight.warn(
        'defaultPodSysctls',
        'sysctl-namespace',
        'may only hold namespaced sysctls, those that are separate for each pod: no new pod will start',
      );
  }
}

/** First minor with defaultPodSysctls. */
const SINCE_POD_SYSCTLS = 37;
/** First minor in which the kubelet uses the cgroup driver that its runtime reports, if it reports one. */
const SINCE_DRIVER_OF_RUNTIME = 31;

function driver(flight: Preflight): void {
  const field = 'cgroupDriver';
  if (flight.text(field) !== 'systemd' || flight.value('cgroupsPerQOS') === false || flight.host.systemd !== false) return;
  const text = 'is systemd, which does not run on this node: the kubelet exits';
  if (flight.minor < SINCE_DRIVER_OF_RUNTIME) flight.add(field, 'cgroup-driver-host', text);
  else flight.warn(field, 'cgroup-driver-host', `${text}, unless its container runtime names another driver`);
}

function cgroups(flight: Preflight): void {
  const version = flight.host.cgroupVersion;
  if (flight.flag('failCgroupV1')) {
    if (version === 1) flight.add('failCgroupV1', 'cgroup-v1', 'is true, and this node uses cgroup v1: the kubelet refuses to run');
    else if (version === undefined)
      flight.warn('failCgroupV1', 'cgroup-v1', 'is true: the kubelet refuses to run on a node with cgroup v1');
  }
  if (flight.value('singleProcessOOMKill') === false) {
    if (version === 1) flight.add('singleProcessOOMKill', 'cgroup-v1', 'may not be false on a node with cgroup v1');
    else if (version === undefined) flight.warn('singleProcessOOMKill', 'cgroup-v1', 'may not be false on a node with cgroup v1');
  }
  const field = 'memorySwap.swapBehavior';
  if (flight.text(field) !== 'LimitedSwap' || flight.minor < 28) return;
  if (version === 1) flight.add(field, 'cgroup-v1', 'LimitedSwap needs cgroup v2, and this node uses cgroup v1');
  else if (version === undefined) flight.warn(field, 'cgroup-v1', 'LimitedSwap needs cgroup v2');
}
