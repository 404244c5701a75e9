import { failed, ok, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import { closestKubeletVersion, COVERED } from '../../../agent/config/config.ts';
import { messageOf } from '../../../base/errors.ts';

export interface HostFacts {
  /** As the binary says it: `v1.36.3`. */
  binary: Seen<string>;
  /** `kubeletVersion` of the settings. */
  told: string | undefined;
  cgroup: Seen<1 | 2>;
  /** The configuration refuses cgroup v1, by its own words or by the default of this version. */
  failCgroupV1: Seen<boolean>;
}

export const hostChecks: readonly Check<HostFacts>[] = [
  { name: 'kubelet-version', wants: `a kubelet version that dkc supports: ${COVERED}`, decide: version },
  { name: 'cgroup', wants: 'a cgroup version that this kubelet supports', decide: cgroup },
];

function version({ binary, told }: HostFacts): Verdict {
  const found = the(binary);
  let closest: ReturnType<typeof closestKubeletVersion>;
  try {
    closest = closestKubeletVersion(found);
  } catch (error) {
    return failed(messageOf(error), `upgrade the kubelet; dkc validates ${COVERED}`);
  }
  if (closest.newer !== undefined)
    return warning(
      `kubelet ${closest.newer} is newer than the versions that this dkc supports; configurations are validated for ${closest.version.text}`,
      'upgrade dkc on this node',
    );
  const { minor } = closest.version;
  if (told !== undefined && closestKubeletVersion(told).version.minor !== minor)
    return warning(
      `the kubelet is ${found}, but kubeletVersion in /etc/dkc/agent.yaml is ${told}`,
      'remove kubeletVersion from /etc/dkc/agent.yaml; systemctl restart dkc-agent',
    );
  return ok(`kubelet ${found}`);
}

function cgroup({ cgroup, failCgroupV1 }: HostFacts): Verdict {
  if (the(cgroup) === 2) return ok('cgroup v2');
  if (the(failCgroupV1))
    return failed(
      'this node uses cgroup v1, and the kubelet refuses to start on it',
      'boot the node with systemd.unified_cgroup_hierarchy=1, or set failCgroupV1: false in the configuration',
    );
  return warning(
    'this node uses cgroup v1, on which kubelets from 1.35 on refuse to start by default',
    'boot the node with systemd.unified_cgroup_hierarchy=1 before its kubelet is upgraded',
  );
}
