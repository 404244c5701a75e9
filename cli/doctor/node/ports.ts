import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { isWildcard, ownerOfPort } from '../../../agent/config/preflight/server.ts';

/** A listening socket, and whether it belongs to the process that should have the port. */
export interface Listening {
  address: string;
  port: number;
  isOwn: boolean;
}

export interface PortFacts {
  /** `kubelet` if no unit is set. */
  kubeletUnit: string;
  /** Ports of the configuration, with their fields. */
  kubelet: Seen<readonly { field: string; address: string; port: number }[]>;
  /** Listening sockets; `isOwn` refers to the kubelet's process. */
  listening: Seen<readonly Listening[]>;
  /** `kubeletHealthz`; '' for none. */
  healthz: string;
  health: Seen<{ healthy: boolean; detail: string }>;
  /** `metricsBindAddress`; '' for none. */
  metrics: string;
  /** Listening sockets; `isOwn` refers to the agent's process. */
  listeningOfAgent: Seen<readonly Listening[]>;
}

export const portChecks: readonly Check<PortFacts>[] = [
  { name: 'kubelet-ports', wants: 'no other program listens on a port of the kubelet', decide: kubeletPorts },
  { name: 'kubelet-health', wants: 'the health endpoint of the kubelet (kubeletHealthz) answers ok', decide: health },
  { name: 'metrics-port', wants: 'no other program listens on the metrics port of the agent', decide: metricsPort },
];

function kubeletPorts({ kubelet, listening }: PortFacts): Verdict {
  const ports = the(kubelet);
  const others = the(listening).filter(({ isOwn }) => !isOwn);
  const taken = ports.filter(({ address, port }) =>
    others.some((other) => other.port === port && (other.address === address || isWildcard(other.address) || isWildcard(address))),
  );
  const [first] = taken;
  if (first === undefined) return ok(ports.map(({ field, port }) => `${field} ${port}`).join(', ') || 'the kubelet has no ports');
  return failed(
    `another program listens on ${someOf(taken.map(({ field, port }) => `${port} (${field})`))}`,
    `find and stop that program: ss -ltnp 'sport = :${first.port}'; or set another ${first.field} in the configuration`,
  );
}

function health({ healthz, health, kubelet, kubeletUnit }: PortFacts): Verdict {
  if (healthz === '') return skipped('kubeletHealthz is empty: a trial ends by time alone');
  const configured = 'seen' in kubelet ? kubelet.seen.find(({ field }) => field === 'healthzPort')?.port : undefined;
  const asked = portOf(healthz);
  const { healthy, detail } = the(health);
  if (healthy) return ok(detail);
  if (configured !== undefined && asked !== configured && asked !== 10_250)
    return failed(
      `${healthz} does not answer; healthzPort in the kubelet's configuration is ${configured}`,
      `set kubeletHealthz in /etc/dkc/agent.yaml to http://127.0.0.1:${configured}/healthz; systemctl restart dkc-agent`,
    );
  return failed(detail, `journalctl -u ${kubeletUnit} -e; dkc status`);
}

function metricsPort({ metrics, listeningOfAgent }: PortFacts): Verdict {
  if (metrics === '') return ok('metricsBindAddress is empty: the agent serves no metrics');
  const port = Number(/:(\d+)$/.exec(metrics)?.[1]);
  const remedy = 'set another metricsBindAddress in /etc/dkc/agent.yaml; systemctl restart dkc-agent';
  const owner = ownerOfPort(port);
  if (owner !== undefined) return warning(`${metrics} is the port of ${owner}: the agent serves no metrics there`, remedy);
  if (the(listeningOfAgent).some((other) => other.port === port && !other.isOwn))
    return warning(`another program listens on ${metrics}: the agent serves no metrics`, remedy);
  return ok(metrics);
}

function portOf(url: string): number | undefined {
  try {
    const { port, protocol } = new URL(url);
    return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
  } catch {
    return undefined;
  }
}
