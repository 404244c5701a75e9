import { SECOND } from '../../../base/go-duration.ts';
import type { Validator } from './validation.ts';

const TOPOLOGY_POLICIES = ['none', 'best-effort', 'restricted', 'single-numa-node'];
const TOPOLOGY_SCOPES = ['container', 'pod'];
const HAIRPIN_MODES = ['promiscuous-bridge', 'hairpin-veth', 'none'];
const ENFORCEMENTS = ['pods', 'system-reserved', 'kube-reserved', 'none'];
/** The field that names the cgroup of a reservation. */
const RESERVED: Readonly<Record<string, string>> = { 'system-reserved': 'systemReservedCgroup', 'kube-reserved': 'kubeReservedCgroup' };
const LOG_FORMATS = ['text', 'json'];

/** Cgroups, CPU, topology, and the enumerations that every version checks. */
export function validateResources(validator: Validator): void {
  if (validator.text('systemCgroups') !== '' && validator.text('cgroupRoot') === '')
    validator.add('systemCgroups', 'cgroup-root', 'needs cgroupRoot to be set');
  if (validator.flag('serverTLSBootstrap') && !validator.gate('RotateKubeletServerCertificate')) {
    validator.add('serverTLSBootstrap', 'gate', 'needs feature gate RotateKubeletServerCertificate');
  }
  quotaPeriod(validator);
  topology(validator);
  enforcement(validator);
  oneOf(validator, 'hairpinMode', HAIRPIN_MODES);
  reservedCpus(validator);
  const hidden = validator.text('showHiddenMetricsForVersion');
  if (hidden !== '' && hidden !== `1.${validator.minor - 1}`) {
    validator.add('showHiddenMetricsForVersion', 'hidden-metrics', `must be empty or the previous minor, 1.${validator.minor - 1}`);
  }
  oneOf(validator, 'logging.format', LOG_FORMATS);
  // Measured from 1.32 on; the gate is older.
  if (validator.minor >= 32 && validator.text('logging.format') === 'json' && !validator.gate('LoggingBetaOptions'))
    validator.add('logging.format', 'gate', 'may only be json with feature gate LoggingBetaOptions');
}

export function oneOf(validator: Validator, field: string, allowed: readonly string[]): void {
  if (!allowed.includes(validator.text(field))) validator.add(field, 'enum', `must be one of ${allowed.join(', ')}`);
}

function quotaPeriod(validator: Validator): void {
  const field = 'cpuCFSQuotaPeriod';
  const period = validator.duration(field);
  if (!validator.gate('CustomCPUCFSQuotaPeriod')) {
    if (period !== SECOND / 10n) validator.add(field, 'gate', 'may only differ from 100ms with feature gate CustomCPUCFSQuotaPeriod');
    return;
  }
  const least = validator.minor < 21 ? SECOND / 1_000_000n : SECOND / 1000n;
  if (period < least || period > SECOND)
    validator.add(field, 'quota-period', `must be between ${validator.minor < 21 ? '1us' : '1ms'} and 1s`);
}

function topology(validator: Validator): void {
  // The gate has been locked on since 1.27.
  const off = !validator.gate('TopologyManager') && validator.minor < 27;
  if (off && validator.text('topologyManagerPolicy') !== 'none')
    validator.add('topologyManagerPolicy', 'gate', 'needs feature gate TopologyManager');
  if (off && validator.text('topologyManagerScope') !== 'container')
    validator.add('topologyManagerScope', 'gate', 'needs feature gate TopologyManager');
  oneOf(validator, 'topologyManagerPolicy', TOPOLOGY_POLICIES);
  oneOf(validator, 'topologyManagerScope', TOPOLOGY_SCOPES);
}

function enforcement(validator: Validator): void {
  if (validator.minor >= 32) {
    modernEnforcement(validator);
    return;
  }
  const field = 'enforceNodeAllocatable';
  const entries = validator.texts(field);
  const enforces = validator.minor >= 21 ? entries.some((entry) => entry !== 'none') : entries.length > 0;
  if (!validator.flag('cgroupsPerQOS') && enforces) validator.add(field, 'cgroups-per-qos', 'needs cgroupsPerQOS to be true');
  for (const entry of entries) {
    if (entry in RESERVED) needsCgroup(validator, entry);
    else if (entry === 'none') noneAlone(validator, entries);
    else if (entry !== 'pods') validator.add(field, 'enum', `may only hold ${ENFORCEMENTS.join(', ')}`);
  }
}

/** 1.32 and later have variants of the reservations that limit CPU only, and report cgroupsPerQOS for every entry that needs it. */
function modernEnforcement(validator: Validator): void {
  const field = 'enforceNodeAllocatable';
  const entries = validator.texts(field);
  const seen = new Set<string>();
  for (const entry of entries) {
    if (seen.has(entry)) {
      validator.add(field, 'unique', 'may not hold an entry twice');
      continue;
    }
    seen.add(entry);
    const plain = entry.replace(/-compressible$/, '');
    if (plain in RESERVED) {
      if (plain !== entry && entries.includes(plain)) validator.add(field, 'compressible', `may not hold both ${plain} and ${entry}`);
      needsCgroup(validator, entry);
    } else if (entry === 'none') {
      noneAlone(validator, entries);
      continue;
    } else if (entry !== 'pods') {
      validator.add(
        field,
        'enum',
        `may only hold ${[...ENFORCEMENTS, ...Object.keys(RESERVED).map((one) => `${one}-compressible`)].join(', ')}`,
      );
      continue;
    }
    if (!validator.flag('cgroupsPerQOS'))
      validator.add('cgroupsPerQOS', 'cgroups-per-qos', `must be true when enforceNodeAllocatable holds ${entry}`);
  }
}

function noneAlone(validator: Validator, entries: readonly string[]): void {
  if (entries.length > 1) validator.add('enforceNodeAllocatable', 'none-alone', 'may not hold anything beside none');
}

function needsCgroup(validator: Validator, entry: string): void {
  const field = RESERVED[entry.replace(/-compressible$/, '')] ?? '';
  if (validator.text(field) === '') validator.add(field, 'reserved-cgroup', `must be set when enforceNodeAllocatable holds ${entry}`);
}

function reservedCpus(validator: Validator): void {
  const field = 'reservedSystemCPUs';
  const cpus = validator.text(field);
  if (cpus === '') return;
  if (validator.text('systemReservedCgroup') !== '' || validator.text('kubeReservedCgroup') !== '') {
    validator.add(field, 'reserved-cpus-cgroup', 'cannot be used together with systemReservedCgroup or kubeReservedCgroup');
  }
  if (parseCpuset(cpus, validator.minor >= 26) === undefined) validator.add(field, 'cpuset', 'must be a list of CPUs such as 0-3,8');
}

/** Longest CPU list, in characters: all 8,192 CPUs that a kernel can have, listed one by one, take 40,000. */
const MAX_LETTERS = 40_960;

/**
 * CPU numbers of a list such as `0-3,8`, ascending, or undefined for an invalid list.
 * @param strict - kubelets from 1.26 on: a range must not be descending. Older ones read such a range, and one with two dashes, as no CPUs
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
    const [from, to] = [parseInteger(ends[0] ?? ''), parseInteger(ends[1] ?? ends[0] ?? '')];
    if (from === undefined || to === undefined || (strict && from > to)) return undefined;
    if (from <= to) parts.push([from, to]);
  }
  return { parts };
}

/** A whole number in the syntax of Go's Atoi, up to 64 bits. */
function parseInteger(text: string): number | undefined {
  if (!/^[+-]?[0-9]{1,300}$/.test(text)) return undefined;
  const value = BigInt(text.replace(/^\+/, ''));
  return value >= -(2n ** 63n) && value < 2n ** 63n ? Number(value) : undefined;
}
