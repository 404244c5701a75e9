import { failed, ok, skipped, the, warning, type Check, type Seen, type Verdict } from '../check.ts';
import { validity } from './credentials.ts';
import { installCommand } from '../../../agent/status/choose-carrier.ts';
import { rightsText, type Right } from '../../process/check-rights.ts';
import type { ServerFacts as Serves } from '../../../controllers/fleet/server-facts.ts';
import type { Millis } from '../../../base/clock.ts';
import { minorOf } from '../../../kube/api/release.ts';

export interface ServerFacts {
  /** What the API server serves, or why it did not respond. */
  server: Seen<Serves | { problem: string }>;
  assignment: 'auto' | 'node' | 'nodeconfig';
  nodeName: string;
  node: Seen<'found' | 'missing' | { problem: string }>;
  /** Rights that the agent's user lacks. */
  missing: Seen<readonly Right[]>;
  /** Facts from any response: the API server's time minus ours, in ms, and the validity of its certificate; null without TLS. */
  hello: Seen<{ aheadMs: Millis; certificate: { notBefore: Millis; notAfter: Millis } | null }>;
  now: Millis;
  /** NTPSynchronized of `timedatectl`. */
  isSynchronized: Seen<boolean>;
  /** Version that the kubelet's binary prints: `v1.36.3`. */
  kubelet: Seen<string>;
}

const INSTALL = installCommand('');
const MINUTE: Millis = 60_000;
/** Clock difference that causes errors: new certificates and tokens are not valid yet on a machine whose clock is behind. */
const FAR_MS = 5 * MINUTE;
const OFF_MS = MINUTE / 2;

export type HelloFacts = Pick<ServerFacts, 'hello' | 'isSynchronized' | 'now'>;

export const helloChecks: readonly Check<HelloFacts>[] = [
  { name: 'clock', wants: 'the clock is within 30 s of that of the API server', decide: clock },
  { name: 'server-certificate', wants: 'the certificate of the API server is valid for at least a week', decide: serverCertificate },
];

export const serverChecks: readonly Check<ServerFacts>[] = [
  { name: 'api-server', wants: 'the API server answers this node', decide: answers },
  { name: 'node-object', wants: 'a Node object with the node name of the agent exists', decide: nodeObject },
  { name: 'assignment', wants: 'the API server supports an object that can assign configurations', decide: assignment },
  { name: 'agent-rights', wants: 'the user of the agent has all RBAC rights that the agent needs', decide: rights },
  ...helloChecks,
  { name: 'version-skew', wants: 'the kubelet is not newer than the API server, and at most three minors older', decide: skew },
];

function answers({ server }: ServerFacts): Verdict {
  const found = the(server);
  if (!('problem' in found)) return ok(`API server ${found.version}`);
  return failed(
    found.problem,
    'check that the API server runs, its address in the kubeconfig, and the network: curl -k SERVER/healthz; the node keeps its configuration until the API server answers',
  );
}

function nodeObject({ node, nodeName }: ServerFacts): Verdict {
  const found = the(node);
  if (found === 'found') return ok(`Node ${nodeName}`);
  if (found === 'missing')
    return failed(
      `Node ${nodeName} does not exist`,
      'set nodeName in /etc/dkc/agent.yaml to the name in kubectl get nodes; systemctl restart dkc-agent',
    );
  return failed(found.problem, `grant the agent the right to read its Node: ${INSTALL}`);
}

function assignment({ server, assignment, nodeName }: ServerFacts): Verdict {
  const found = the(server);
  if ('problem' in found) return skipped('the API server does not answer');
  const { version, servesNodeConfigs, hasConfigSource } = found;
  if (servesNodeConfigs && assignment !== 'node') return ok(`NodeConfig ${nodeName}`);
  if (hasConfigSource && assignment !== 'nodeconfig')
    return ok(`API server ${version}: Node.spec.configSource, if the gate DynamicKubeletConfig is on`);
  if (servesNodeConfigs)
    return failed(
      `API server ${version} drops Node.spec.configSource, and the settings say assignment: node`,
      'remove assignment from /etc/dkc/agent.yaml; systemctl restart dkc-agent',
    );
  return failed(`API server ${version} does not serve NodeConfigs: nothing can be assigned`, installCommand(version));
}

function rights({ missing }: ServerFacts): Verdict {
  const all = the(missing);
  const vital = all.filter((right) => right.vital);
  if (all.length === 0) return ok('the agent has all rights that it needs');
  const remedy = `${INSTALL}; for other credentials than the kubelet's see docs/operations.md, "Rights"`;
  if (vital.length > 0) return failed(`the agent lacks rights: ${rightsText(vital)}`, remedy);
  return warning(`the agent lacks rights: ${rightsText(all)}`, remedy);
}

function clock({ hello, isSynchronized }: HelloFacts): Verdict {
  const remedy = 'timedatectl set-ntp true; chronyc tracking or timedatectl timesync-status shows the progress';
  const off = the(hello).aheadMs;
  const text = `the API server's clock is ${span(off)} ${off < 0 ? 'behind' : 'ahead'}`;
  if (Math.abs(off) > FAR_MS) return failed(text, remedy);
  if (Math.abs(off) > OFF_MS) return warning(text, remedy);
  if ('seen' in isSynchronized && !isSynchronized.seen) return warning('the clock of this machine is not synchronized by NTP', remedy);
  return ok(Math.abs(off) < 2000 ? 'within 2 s of the clock of the API server' : text);
}

function serverCertificate({ hello, now }: HelloFacts): Verdict {
  const { certificate } = the(hello);
  if (certificate === null) return skipped('the connection to the API server does not use TLS');
  return validity(
    'the certificate of the API server',
    certificate,
    now,
    'on each control plane node: kubeadm certs renew apiserver, and restart kube-apiserver',
  );
}

function skew({ server, kubelet }: ServerFacts): Verdict {
  const found = the(server);
  if ('problem' in found) return skipped('the API server does not answer');
  const [own, servers] = [minorOf(the(kubelet)), minorOf(found.version)];
  if (own === undefined || servers === undefined) return skipped(`kubelet ${the(kubelet)}, API server ${found.version}`);
  return skewOf(own, servers) ?? ok(`kubelet ${the(kubelet)}, API server ${found.version}`);
}

/** Kubernetes' version skew policy: kubelets may be three minor versions older from 1.28 on, two before. undefined: supported. */
export function skewOf(kubelet: number, server: number, of = 'the kubelet'): Verdict | undefined {
  if (kubelet > server)
    return failed(
      `${of} is 1.${kubelet}, newer than the API server, which is 1.${server}`,
      'upgrade the API server, or install an older kubelet',
    );
  if (server - kubelet > (server >= 28 ? 3 : 2))
    return warning(`${of} is 1.${kubelet}, too old for an API server 1.${server}`, 'upgrade the kubelet');
  return undefined;
}

const span = (ms: Millis): string => {
  const s = Math.round(Math.abs(ms) / 1000);
  return s < 120 ? `${s} s` : s < 7200 ? `${Math.round(s / 60)} min` : `${Math.round(s / 3600)} h`;
};
