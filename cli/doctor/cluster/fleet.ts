import { failed, ok, skipped, someOf, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import { skewOf } from '../node/server.ts';
import { minorOf } from '../../../kube/api/release.ts';
import { closestKubeletVersion, COVERED } from '../../../agent/config/config.ts';
import { fleetState, type FleetNode } from '../../../controllers/fleet/fleet-node.ts';

export interface FleetFacts {
  nodes: Seen<readonly FleetNode[]>;
  /** `v1.36.3` */
  serverVersion: string;
  /** Version of this dkc. */
  version: string;
}

export const fleetChecks: readonly Check<FleetFacts>[] = [
  { name: 'agents', wants: 'every node has an agent that has processed its NodeConfig', decide: agents },
  { name: 'agent-versions', wants: 'all agents have the same version as this dkc', decide: agentVersions },
  {
    name: 'kubelet-versions',
    wants: 'no kubelet is newer than the API server, and dkc supports the versions of all',
    decide: kubeletVersions,
  },
];

function agents({ nodes }: FleetFacts): Verdict {
  const all = the(nodes);
  if (all.length === 0) return skipped('there are no nodes');
  const without = all.filter((node) => fleetState(node) === 'no-agent').map(({ node }) => node);
  const install = 'install dkc on these nodes (docs/install.md), and run dkc doctor there';
  if (without.length === all.length) return warning(`no agent has reported for any of ${all.length} nodes`, install);
  if (without.length > 0) return warning(`no agent has reported for ${without.length} of ${all.length} nodes: ${someOf(without)}`, install);
  const behind = all.filter(({ isBehind }) => isBehind === true).map(({ node }) => node);
  if (behind.length > 0)
    return warning(
      `${behind.length} of ${all.length} agents have not processed the latest assignment of their node: ${someOf(behind)}`,
      'run this again in a minute; if it persists, run dkc doctor on these nodes',
    );
  const down = all.filter(({ ready }) => ready !== true).map(({ node }) => node);
  if (down.length > 0)
    return warning(`${down.length} of ${all.length} nodes are not Ready: ${someOf(down)}`, 'run dkc doctor and dkc status on these nodes');
  return ok(`${all.length} ${all.length === 1 ? 'node' : 'nodes'}`);
}

function agentVersions({ nodes, version }: FleetFacts): Verdict {
  const known = the(nodes).flatMap(({ node, agent }) => (agent === null ? [] : [{ node, version: agent.version }]));
  if (known.length === 0) return skipped('no agent has reported its version');
  const others = Map.groupBy(known.filter((one) => one.version !== version), (one) => one.version); // prettier-ignore
  if (others.size === 0) return ok(`${known.length} ${known.length === 1 ? 'agent has' : 'agents have'} version ${version}`);
  const named = [...others].map(([of, some]) => `${some.length} with ${of} (${someOf(some.map(({ node }) => node), 3)})`); // prettier-ignore
  return warning(
    `this dkc is ${version}, and other agents have other versions: ${someOf(named)}`,
    'install the same version on all nodes; an upgrade does not restart kubelets',
  );
}

function kubeletVersions({ nodes, serverVersion }: FleetFacts): Verdict {
  const server = minorOf(serverVersion);
  const known = the(nodes).filter(({ kubeletVersion }) => kubeletVersion !== '');
  if (known.length === 0 || server === undefined) return skipped('no kubelet has reported its version');
  const byVersion = Map.groupBy(known, ({ kubeletVersion }) => kubeletVersion);
  const verdicts = [...byVersion].flatMap(([version, some]) => {
    const minor = minorOf(version);
    const of = `the kubelet of ${someOf(some.map(({ node }) => node), 3)}`; // prettier-ignore
    return minor === undefined ? [] : [skewOf(minor, server, of) ?? coverage(version, of)];
  });
  const worst = verdicts.find((one) => one?.result === 'failed') ?? verdicts.find((one) => one !== undefined);
  return worst ?? ok([...byVersion].map(([version, some]) => `${some.length} with ${version}`).join(', '));
}

function coverage(version: string, of: string): Verdict | undefined {
  try {
    const { newer } = closestKubeletVersion(version);
    return newer === undefined
      ? undefined
      : warning(`${of} is ${version}, newer than the versions that this dkc supports (${COVERED})`, 'upgrade dkc');
  } catch {
    return failed(`${of} is ${version}, and this dkc supports ${COVERED}`, 'upgrade the kubelet');
  }
}
