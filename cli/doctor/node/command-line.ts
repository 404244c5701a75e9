import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { applyFlags, closestKubeletVersion, COVERED, type DropIns, removedFlags } from '../../../agent/config/config.ts';
import type { JsonObject, KubeletFacts } from '../../../agent/config/contract.ts';
import { fieldAt } from '../../../agent/config/fields/fields.ts';
import { isList, isObject } from '../../../agent/config/decode/document.ts';
import { messageOf } from '../../../base/errors.ts';

/** The --config flag of a command line; null: it has none. */
export type ConfigFlag = { path: string; isEffective: boolean } | null;

export interface CommandLineFacts {
  /** Of the command line with which systemd would start the kubelet. */
  next: Seen<ConfigFlag>;
  /** Of the running process; `none`: no process runs. */
  running: Seen<ConfigFlag | 'none'>;
  /** Version, and arguments of the next start. */
  kubelet: Seen<KubeletFacts>;
  /** Drop-ins of --config-dir; undefined: the flag is not set. */
  dropIns: Seen<DropIns | undefined>;
  /** Files that may set flags: path and text. */
  sources: readonly { path: string; text: string }[];
  effectiveConfig: string;
  kubeletUnit: string;
}

export const commandLineChecks: readonly Check<CommandLineFacts>[] = [
  { name: 'config-flag', wants: 'systemd starts the kubelet with the effective file as its --config', decide: nextStart },
  { name: 'kubelet-process', wants: 'the running kubelet was started with the effective file', decide: runningProcess },
  { name: 'kubelet-flags', wants: 'no flag of the kubelet overrides a field that a configuration may change', decide: flags },
  { name: 'config-dir', wants: 'no file in --config-dir changes the configuration', decide: configDir },
];

function nextStart({ next, effectiveConfig, kubeletUnit }: CommandLineFacts): Verdict {
  const config = the(next);
  const remedy = `find what sets --config: systemctl cat ${kubeletUnit}; --config must come from $KUBELET_CONFIG_ARGS`;
  if (config === null) return failed(`the command line of ${kubeletUnit} has no --config: the drop-in has no effect`, remedy);
  if (!config.isEffective) return failed(`the kubelet would be started with --config=${config.path}, not with ${effectiveConfig}`, remedy);
  return ok(`--config=${config.path}`);
}

function runningProcess({ running, next, effectiveConfig, kubeletUnit }: CommandLineFacts): Verdict {
  const config = the(running);
  if (config === 'none') return skipped('no kubelet runs');
  if (config?.isEffective) return ok(`--config=${config.path}`);
  const isNextRight = 'seen' in next && next.seen?.isEffective === true;
  return failed(
    `the running kubelet ${config === null ? 'has no --config' : `has --config=${config.path}`}, not ${effectiveConfig}`,
    isNextRight ? `systemctl restart ${kubeletUnit}` : 'fix the check config-flag first',
  );
}

/** Classes of fields that a configuration may change under the default policy. */
const mayChange: ReadonlySet<string> = new Set(['safe', 'needs-drain']);

function flags({ kubelet, sources }: CommandLineFacts): Verdict {
  const { args, version } = the(kubelet);
  const [removed] = removedFlags({ args, version });
  const { shadowed, problems } = applyFlags({}, args, version);
  const [problem] = problems;
  if (removed) return failed(removed.message, `remove the flag${whereFrom([/--[-a-z]+/.exec(removed.message)?.[0] ?? ''], sources)}`);
  if (problem) return failed(problem.message, `fix the flag${whereFrom([/--[-a-z]+/.exec(problem.message)?.[0] ?? ''], sources)}`);
  // Under the default policy no configuration may change the other fields, and kubeadm itself sets some of them as flags.
  const decided = shadowed.filter(({ field }) => field.startsWith('featureGates.') || mayChange.has(fieldAt(field)?.class ?? ''));
  if (decided.length === 0)
    return ok(
      shadowed.length === 0
        ? 'no flag overrides a field'
        : `flags override only fields that no configuration may change by default: ${someOf(shadowed.map(({ flag }) => flag))}`,
    );
  const names = [...new Set(decided.map(({ flag }) => flag))];
  return warning(
    `flags override the configuration: ${someOf(decided.map(({ flag, field }) => `${flag} sets ${field}`))}`,
    `remove ${someOf(names)}${whereFrom(names, sources)}, and set the field in the configuration`,
  );
}

/** ` from FILE and FILE`; '' if no known file sets the flags. */
function whereFrom(flags: readonly string[], sources: CommandLineFacts['sources']): string {
  const files = sources.filter(({ text }) =>
    flags.some((flag) => flag !== '' && new RegExp(`(^|[\\s"'=])${flag}([\\s="']|$)`, 'm').test(text)),
  );
  return files.length === 0 ? '' : ` from ${someOf(files.map(({ path }) => path))}`;
}

function configDir({ dropIns, kubeletUnit }: CommandLineFacts): Verdict {
  const found = the(dropIns);
  if (found === undefined) return ok('the kubelet has no --config-dir');
  const [broken] = found.problems;
  if (broken) return failed(broken.message, 'fix or remove that file');
  const files = found.files.map(({ path, written }) => ({ path, keys: keysOf(written) })).filter(({ keys }) => keys.length > 0);
  if (files.length === 0) return ok(`no file in ${found.dir} sets a field`);
  return warning(
    `drop-ins override the configuration: ${someOf(files.map(({ path, keys }) => `${path} sets ${someOf(keys, 8)}`))}`,
    `move these fields into the configuration and remove the files; systemctl restart ${kubeletUnit}`,
  );
}

/** Dotted paths of all fields that a document sets, except apiVersion and kind. */
function keysOf(written: JsonObject, prefix = ''): string[] {
  return Object.entries(written).flatMap(([key, value]) => {
    if (prefix === '' && (key === 'apiVersion' || key === 'kind')) return [];
    return isObject(value) && !isList(value) ? keysOf(value, `${prefix}${key}.`) : [`${prefix}${key}`];
  });
}

export interface HostFacts {
  /** As printed by the binary: `v1.36.3`. */
  binary: Seen<string>;
  /** `kubeletVersion` of the settings. */
  configured: string | undefined;
  cgroup: Seen<1 | 2>;
  /** The configuration rejects cgroup v1, explicitly or by the default of this version. */
  failCgroupV1: Seen<boolean>;
}

export const hostChecks: readonly Check<HostFacts>[] = [
  { name: 'kubelet-version', wants: `a kubelet version that dkc supports: ${COVERED}`, decide: version },
  { name: 'cgroup', wants: 'a cgroup version that this kubelet supports', decide: cgroup },
];

function version({ binary, configured }: HostFacts): Verdict {
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
  if (configured !== undefined && closestKubeletVersion(configured).version.minor !== minor)
    return warning(
      `the kubelet is ${found}, but kubeletVersion in /etc/dkc/agent.yaml is ${configured}`,
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
