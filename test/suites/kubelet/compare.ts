import { applyDefaults } from '../../../agent/config/defaults.ts';
import { decode } from '../../../agent/config/decode/decode.ts';
import type { Json, KubeletVersion } from '../../../agent/config/contract.ts';
import { fields } from '../../../agent/config/fields/fields.ts';
import { validate } from '../../../agent/config/rules/validate.ts';
import { parseKubeletVersion } from '../../../agent/config/version.ts';

export const version: KubeletVersion = parseKubeletVersion('v1.20.2');

/** A verdict on a text, ours or the kubelet's, as far as the two are compared. */
export interface Verdict {
  stage: string;
  /** Names of the fields that break a rule, sorted, once per broken rule. */
  fields: readonly string[];
  lenient: boolean;
  config: unknown;
}

const utf8 = new TextEncoder();

/** What our code says of a text. */
export function ourVerdict(text: string): Verdict & { why: string } {
  const decoded = decode(utf8.encode(text), version);
  if (!decoded.ok)
    return { stage: 'decode', fields: [], lenient: false, config: null, why: decoded.errors.map(({ message }) => message).join('; ') };
  const config = applyDefaults(decoded.written, version);
  const findings = validate(config, { version });
  const gates = findings.some(({ rule }) => rule === 'unknown-gate' || rule === 'locked-gate');
  return {
    stage: gates ? 'gates' : findings.length > 0 ? 'validate' : 'ok',
    fields: gates ? [] : findings.map(({ field }) => field).sort(),
    lenient: decoded.warnings.length > 0,
    config: comparable(config),
    why: [...decoded.warnings, ...findings].map(({ message }) => message).join('; '),
  };
}

/** What the kubelet's own code says, from the answer of kubelet-validate. */
export function theirVerdict(answer: { stage: string; errors: readonly string[]; lenient: string; config?: unknown }): Verdict {
  return {
    stage: answer.stage,
    fields: answer.stage === 'validate' ? answer.errors.map(fieldIn).sort() : [],
    lenient: answer.stage !== 'decode' && answer.lenient !== '',
    config: answer.stage === 'decode' ? null : comparable((answer.config ?? null) as Json),
  };
}

const names = fields.map(({ name }) => name);

/** The field a message of the kubelet is about: the first it names. */
function fieldIn(message: string): string {
  if (message.includes('unsupported log format')) return 'logging.format';
  if (message.includes('--show-hidden-metrics-for-version')) return 'showHiddenMetricsForVersion';
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
  if (Array.isArray(value)) return value.map((item: Json) => comparable(item));
  if (typeof value !== 'object' || value === null) return value;
  const made: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const empty = Array.isArray(item) ? item.length === 0 : typeof item === 'object' && item !== null && Object.keys(item).length === 0;
    if (!empty) Object.defineProperty(made, key, { value: comparable(item), enumerable: true, configurable: true, writable: true });
  }
  return made;
}
