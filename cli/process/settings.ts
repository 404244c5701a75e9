import { ActionError } from '../../base/errors.ts';
import { dnsLabelProblems, dnsSubdomainProblems } from '../../kube/api/names.ts';
import { isLoopback, parseBindAddress } from '../../kube/serving/serve.ts';
import { UsageError } from '../failure.ts';
import type { Flag } from '../command.ts';
import type { LeaseOptions } from '../../kube/process/leadership.ts';
import type { Args } from '../args/args.ts';

/** The checked settings that all long-running commands share. */
export interface ProcessSettings {
  /** As typed; undefined: the pod's service account. */
  kubeconfig: string | undefined;
  leaderElect: false | LeaseOptions;
  metricsAddress: string;
  debug: boolean;
  logFormat: 'text' | 'json';
  verbosity: number;
}

/** Defaults of leader election. */
export interface LeaseNormal {
  enabled: boolean;
  lease: Required<LeaseOptions>;
}

/** @param command - words after `dkc`. @returns a function that creates the error for a flag */
export const usageOf =
  (command: string) =>
  (flag: string, problem: string): UsageError =>
    new UsageError(`${command}: --${flag} ${problem}; see dkc ${command} --help`);

/**
 * @param command - words after `dkc`
 * @param normal - defaults for lease flags without a value and without a default
 * @throws {UsageError} naming the flag and what it must be
 */
export function processSettings(command: string, args: Args, normal?: LeaseNormal): ProcessSettings {
  const metricsAddress = args.text('metrics-bind-address') ?? '';
  mustBeAddress(command, metricsAddress, args.on('debug'));
  const kubeconfig = args.text('kubeconfig') ?? '';
  const elects = args.value('leader-elect') === undefined ? normal?.enabled === true : args.on('leader-elect');
  return {
    kubeconfig: kubeconfig === '' ? undefined : kubeconfig,
    leaderElect: elects && leaseOf(command, args, normal?.lease),
    metricsAddress,
    debug: args.on('debug'),
    logFormat: args.text('log-format') === 'json' ? 'json' : 'text',
    verbosity: args.number('verbosity') ?? 0,
  };
}

function leaseOf(command: string, args: Args, normal: Required<LeaseOptions> | undefined): LeaseOptions {
  const usage = usageOf(command);
  const namespace = args.text('leader-elect-resource-namespace') ?? normal?.namespace ?? '';
  if (dnsLabelProblems(namespace).length > 0) throw usage('leader-elect-resource-namespace', 'must be a namespace');
  const name = args.text('leader-elect-resource-name') ?? normal?.name ?? '';
  if (dnsSubdomainProblems(name).length > 0)
    throw usage('leader-elect-resource-name', 'must be the name of a lease: a DNS name in lower case');
  const leaseDurationMs = args.ms('leader-elect-lease-duration') ?? normal?.leaseDurationMs ?? 0;
  const renewDeadlineMs = args.ms('leader-elect-renew-deadline') ?? normal?.renewDeadlineMs ?? 0;
  const retryPeriodMs = args.ms('leader-elect-retry-period') ?? normal?.retryPeriodMs ?? 0;
  if (retryPeriodMs === 0) throw usage('leader-elect-retry-period', 'must be more than 0');
  if (leaseDurationMs <= renewDeadlineMs) throw usage('leader-elect-lease-duration', 'must be longer than --leader-elect-renew-deadline');
  if (renewDeadlineMs <= 1.2 * retryPeriodMs)
    throw usage('leader-elect-renew-deadline', 'must be longer than 1.2 times --leader-elect-retry-period');
  return { namespace, name, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

function mustBeAddress(command: string, text: string, debug: boolean): void {
  const usage = usageOf(command);
  try {
    const at = parseBindAddress(text);
    if (debug && at === undefined) throw usage('debug', 'needs a --metrics-bind-address');
    if (debug && at !== undefined && !isLoopback(at.host))
      throw usage('debug', 'needs a --metrics-bind-address on loopback: it exposes internal state');
  } catch (error) {
    if (error instanceof ActionError)
      throw usage('metrics-bind-address', 'must be HOST:PORT, such as 127.0.0.1:0, or empty to switch it off');
    throw error;
  }
}

export const kubeconfigFlag: Flag = {
  name: 'kubeconfig',
  type: 'string',
  value: 'FILE',
  completes: 'file',
  text: 'path to the kubeconfig; $KUBECONFIG is ignored',
  defaultText: "the pod's service account",
};

/** Named like the flags of Kubernetes' own components, so that their manifests can be reused. @param name - default name of the lease */
export const leaseFlags = (name: string): readonly Flag[] => [
  {
    name: 'leader-elect',
    type: 'boolean',
    default: true,
    text: 'work only while holding the lease; false only if there is a single process',
  },
  {
    name: 'leader-elect-resource-namespace',
    type: 'string',
    value: 'NAME',
    default: 'kube-system',
    text: 'namespace of the lease',
  },
  { name: 'leader-elect-resource-name', type: 'string', value: 'NAME', default: name, text: 'name of the lease' },
  {
    name: 'leader-elect-lease-duration',
    type: 'duration',
    default: '15s',
    text: 'time after the last renewal before a standby may take the lease',
  },
  { name: 'leader-elect-renew-deadline', type: 'duration', default: '10s', text: 'how long the leader works without renewing the lease' },
  {
    name: 'leader-elect-retry-period',
    type: 'duration',
    default: '2s',
    text: 'interval between renewals, and between attempts of standbys',
  },
];

/** Flags for metrics, health and debugging. @param port - default port, different per command, so that metrics and probes work without a flag */
export const servingFlags = (port: number): readonly Flag[] => [
  {
    name: 'metrics-bind-address',
    type: 'string',
    value: 'HOST:PORT',
    default: `127.0.0.1:${port}`,
    text: 'address of /metrics, /healthz and /readyz; port 0 = any free port, empty = off',
  },
  { name: 'debug', type: 'boolean', text: 'serve profiles and the state of queues and caches under /debug, on loopback only' },
  {
    name: 'log-format',
    type: 'string',
    choices: ['text', 'json'],
    default: 'text',
    text: 'log format; under systemd, text has journald levels',
  },
  { name: 'verbosity', alias: 'v', type: 'count', text: 'more log output' },
];
