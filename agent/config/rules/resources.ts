import { SECOND } from '../../../base/go-duration.ts';
import type { Judge } from './validation.ts';

const TOPOLOGY_POLICIES = ['none', 'best-effort', 'restricted', 'single-numa-node'];
const TOPOLOGY_SCOPES = ['container', 'pod'];
const HAIRPIN_MODES = ['promiscuous-bridge', 'hairpin-veth', 'none'];
const ENFORCEMENTS = ['pods', 'system-reserved', 'kube-reserved', 'none'];
const COMPRESSIBLE = ['system-reserved-compressible', 'kube-reserved-compressible'];
const LOG_FORMATS = ['text', 'json'];

/** Cgroups, CPU, topology, and the enumerations that every version checks. */
export function judgeResources(judge: Judge): void {
  if (judge.text('systemCgroups') !== '' && judge.text('cgroupRoot') === '')
    judge.add('systemCgroups', 'cgroup-root', 'needs cgroupRoot to be set');
  if (judge.flag('serverTLSBootstrap') && !judge.gate('RotateKubeletServerCertificate')) {
    judge.add('serverTLSBootstrap', 'gate', 'needs feature gate RotateKubeletServerCertificate');
  }
  quotaPeriod(judge);
  topology(judge);
  enforcement(judge);
  oneOf(judge, 'hairpinMode', HAIRPIN_MODES);
  reservedCpus(judge);
  const hidden = judge.text('showHiddenMetricsForVersion');
  if (hidden !== '' && hidden !== `1.${judge.minor - 1}`) {
    judge.add('showHiddenMetricsForVersion', 'hidden-metrics', `must be empty or the previous minor, 1.${judge.minor - 1}`);
  }
  oneOf(judge, 'logging.format', LOG_FORMATS);
}

export function oneOf(judge: Judge, field: string, allowed: readonly string[]): void {
  if (!allowed.includes(judge.text(field))) judge.add(field, 'enum', `must be one of ${allowed.join(', ')}`);
}

function quotaPeriod(judge: Judge): void {
  const field = 'cpuCFSQuotaPeriod';
  const period = judge.duration(field);
  if (!judge.gate('CustomCPUCFSQuotaPeriod')) {
    if (period !== SECOND / 10n) judge.add(field, 'gate', 'may only differ from 100ms with feature gate CustomCPUCFSQuotaPeriod');
    return;
  }
  const least = judge.minor < 21 ? SECOND / 1_000_000n : SECOND / 1000n;
  if (period < least || period > SECOND) judge.add(field, 'quota-period', `must be between ${judge.minor < 21 ? '1us' : '1ms'} and 1s`);
}

function topology(judge: Judge): void {
  // The gate has been locked on since 1.27.
  const off = !judge.gate('TopologyManager') && judge.minor < 27;
  if (off && judge.text('topologyManagerPolicy') !== 'none')
    judge.add('topologyManagerPolicy', 'gate', 'needs feature gate TopologyManager');
  if (off && judge.text('topologyManagerScope') !== 'container')
    judge.add('topologyManagerScope', 'gate', 'needs feature gate TopologyManager');
  oneOf(judge, 'topologyManagerPolicy', TOPOLOGY_POLICIES);
  oneOf(judge, 'topologyManagerScope', TOPOLOGY_SCOPES);
}

function enforcement(judge: Judge): void {
  const field = 'enforceNodeAllocatable';
  const entries = judge.texts(field);
  const modern = judge.minor >= 32;
  const enforces = judge.minor >= 21 ? entries.some((entry) => entry !== 'none') : entries.length > 0;
  if (!judge.flag('cgroupsPerQOS') && enforces) judge.add(field, 'cgroups-per-qos', 'needs cgroupsPerQOS to be true');
  const given = new Set(entries);
  for (const entry of entries) {
    if (modern && COMPRESSIBLE.includes(entry)) {
      const plain = entry.replace(/-compressible$/, '');
      needsCgroup(judge, entry, plain === 'system-reserved' ? 'systemReservedCgroup' : 'kubeReservedCgroup');
      if (given.has(plain)) judge.add(field, 'compressible', `may not hold both ${plain} and ${entry}`);
    } else if (entry === 'system-reserved') needsCgroup(judge, entry, 'systemReservedCgroup');
    else if (entry === 'kube-reserved') needsCgroup(judge, entry, 'kubeReservedCgroup');
    else if (entry === 'none') {
      if (entries.length > 1) judge.add(field, 'none-alone', 'may not hold anything beside none');
    } else if (!ENFORCEMENTS.includes(entry)) {
      judge.add(field, 'enum', `may only hold ${[...ENFORCEMENTS, ...(modern ? COMPRESSIBLE : [])].join(', ')}`);
    }
  }
  if (modern && given.size < entries.length) judge.add(field, 'unique', 'may not hold an entry twice');
}

function needsCgroup(judge: Judge, entry: string, field: string): void {
  if (judge.text(field) === '') judge.add(field, 'reserved-cgroup', `must be set when enforceNodeAllocatable holds ${entry}`);
}

function reservedCpus(judge: Judge): void {
  const field = 'reservedSystemCPUs';
  const cpus = judge.text(field);
  if (cpus === '') return;
  if (judge.text('systemReservedCgroup') !== '' || judge.text('kubeReservedCgroup') !== '') {
    judge.add(field, 'reserved-cpus-cgroup', 'cannot be used together with systemReservedCgroup or kubeReservedCgroup');
  }
  if (parseCpuset(cpus, judge.minor >= 26) === undefined) judge.add(field, 'cpuset', 'must be a list of CPUs such as 0-3,8');
}

/** Every CPU that a kernel can have, 8,192, listed one by one takes 40,000 letters. */
const MAX_LETTERS = 40_960;

/**
 * CPU numbers of a list such as `0-3,8`, ascending, or undefined when it is none.
 * @param strict - kubelets from 1.26 on: a range may not run backwards. Older ones take that, and what has two dashes, as no CPU at all
 */
export function parseCpuset(
  text: string,
  strict: boolean,
): { readonly parts: readonly (readonly [from: number, to: number])[] } | undefined {
  const parts: (readonly [number, number])[] = [];
  if (text === '') return { parts };
  if (text.length > MAX_LETTERS) return undefined;
  for (const part of text.split(',')) {
    const ends = part.split('-');
    if (ends.length > 2) {
      if (strict) return undefined;
      continue;
    }
    const [from, to] = [whole(ends[0] ?? ''), whole(ends[1] ?? ends[0] ?? '')];
    if (from === undefined || to === undefined || (strict && from > to)) return undefined;
    if (from <= to) parts.push([from, to]);
  }
  return { parts };
}

/** A whole number as Go's Atoi takes it, up to 64 bits. */
function whole(text: string): number | undefined {
  if (!/^[+-]?[0-9]{1,300}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value >= -(2n ** 63n) && value < 2n ** 63n ? Number(value) : undefined;
}
