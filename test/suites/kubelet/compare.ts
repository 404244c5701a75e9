import { applyDefaults } from '../../../agent/config/defaults.ts';
import { decode } from '../../../agent/config/decode/decode.ts';
import { isObject } from '../../../agent/config/decode/document.ts';
import type { Json, JsonObject, KubeletVersion } from '../../../agent/config/contract.ts';
import { fields } from '../../../agent/config/fields/fields.ts';
import { validate } from '../../../agent/config/rules/validate.ts';
import { ON_IN_BUILDS } from './gate-table.ts';
import type { ValidatorAnswer } from '../../support/real-parts/real-kubelet.ts';

/** A verdict on a text, ours or the kubelet's, as far as the two are compared. */
export interface Verdict {
  stage: string;
  /** Names of the fields that break a rule, sorted, once per broken rule. */
  fields: readonly string[];
  lenient: boolean;
  config: unknown;
}

const utf8 = new TextEncoder();
const GATE_RULES = new Set(['unknown-gate', 'locked-gate', 'gate-dependency']);

/** Gates that the builds of newer kubelet-validates set otherwise than upstream does. */
function gatesOfBuild(config: JsonObject, minor: number): ReadonlyMap<string, boolean> {
  const { featureGates } = config;
  const given = isObject(featureGates) ? featureGates : {};
  const { name, since, until } = ON_IN_BUILDS;
  return new Map(minor >= since && minor <= until && given['AllBeta'] === undefined ? [[name, true]] : []);
}

/** What our code says of a text. */
export function ourVerdict(text: string, version: KubeletVersion): Verdict & { why: string } {
  const decoded = decode(utf8.encode(text), version);
  if (!decoded.ok)
    return { stage: 'decode', fields: [], lenient: false, config: null, why: decoded.errors.map(({ message }) => message).join('; ') };
  const config = applyDefaults(decoded.written, version);
  const findings = validate(config, { version, flags: gatesOfBuild(config, version.minor) }).filter(
    ({ rule }) => rule !== 'hidden-metrics' || version.minor < PANICS_AT_GATES,
  );
  // From 1.25 on its defaults are filled in where the file is read, which kubelet-validate does not do.
  const { evictionHard = null } = decoded.written;
  const asWritten = {
    ...config,
    evictionHard: Object.fromEntries(Object.entries(evictionHard ?? {}).map(([signal, value]) => [signal, value ?? ''])),
  };
  const atRest = version.minor >= 25 ? (evictionHard === null ? without(config, 'evictionHard') : asWritten) : config;
  const gates = findings.some(({ rule }) => GATE_RULES.has(rule));
  const panics = gates && version.minor >= PANICS_AT_GATES;
  return {
    stage: gates ? 'gates' : findings.length > 0 ? 'validate' : 'ok',
    fields: gates ? [] : findings.map(({ field }) => field).sort(),
    lenient: decoded.warnings.length > 0 && !panics,
    config: panics ? null : comparable(atRest),
    why: [...decoded.warnings, ...findings].map(({ message }) => message).join('; '),
  };
}

/** First minor whose defaulting ends the kubelet at a gate that cannot be set, before there is a configuration to show. */
const PANICS_AT_GATES = 32;

/** Rules of the kubelet's validation that are about the host it runs on: it looks at the cgroups of the machine that the test runs on. */
const OF_HOST = /cgroup v1/;

/** A kubelet-validate of a newer release is built without a version, and refuses whatever this field says. */
const OF_BUILD = /'0\.18446744073709551615'/;

/** Options of logging are validated twice, by the rules of logging and by those of the kubelet. */
const isFirstOf = (error: string, at: number, errors: readonly string[]): boolean =>
  !error.startsWith('logging.') || errors.indexOf(error) === at;

/** What the kubelet's own code says, from the answer of kubelet-validate. */
export function theirVerdict({ stage, errors = [], lenient = '', config }: ValidatorAnswer): Verdict {
  const ofText = stage === 'validate' ? errors.filter((error) => !OF_HOST.test(error) && !OF_BUILD.test(error)) : errors;
  const left = stage === 'validate' && ofText.length === 0 ? 'ok' : stage === 'panic' ? 'gates' : stage;
  return {
    stage: left,
    fields: left === 'validate' ? ofText.filter(isFirstOf).map(fieldIn).sort() : [],
    lenient: left !== 'decode' && lenient !== '',
    config: left === 'decode' ? null : comparable((config ?? null) as Json),
  };
}

const without = (config: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(config).filter(([key]) => key !== name));

const names = fields.map(({ name }) => name);

/** Messages that name no field, or another one first. */
const MEANT: readonly (readonly [says: RegExp, field: string])[] = [
  [/unsupported log format/, 'logging.format'],
  [/--show-hidden-metrics-for-version/, 'showHiddenMetricsForVersion'],
  [/pod logs path/, 'podLogsDir'],
  [/invalid taint|taint\.TimeAdded/, 'registerWithTaints'],
  [/enableSystemLogHandler is required|required for enableSystemLogHandler/, 'enableSystemLogQuery'],
  [/reserved memory|limit type .* for NUMA node/, 'reservedMemory'],
];

/** The field a message of the kubelet is about: the first it names. */
function fieldIn(message: string): string {
  const meant = MEANT.find(([says]) => says.test(message))?.[1];
  if (meant !== undefined) return meant;
  const option = /specified for ([a-zA-Z]+)/.exec(message)?.[1];
  if (option !== undefined) return option;
  const found = names
    .map((name) => ({ name, at: message.toLowerCase().search(new RegExp(`\\b${name.toLowerCase().replaceAll('.', '\\.')}\\b`)) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)[0];
  const name = found?.name ?? message;
  // Ours names the list that cannot be, the kubelet what it forgot; both say the same.
  return name === 'systemCgroups' && message.includes('was specified and cgroupRoot') ? 'systemCgroups' : name;
}

/** The kubelet does not print empty maps and lists, and JSON.parse rounds its large numbers. */
function comparable(value: Json): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value === 0) return 0; // and not -0
  if (Array.isArray(value)) return value.map((item: Json) => comparable(item));
  if (typeof value !== 'object' || value === null) return value;
  const made: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const empty = Array.isArray(item) ? item.length === 0 : typeof item === 'object' && item !== null && Object.keys(item).length === 0;
    if (!empty) Object.defineProperty(made, key, { value: comparable(item), enumerable: true, configurable: true, writable: true });
  }
  return made;
}
