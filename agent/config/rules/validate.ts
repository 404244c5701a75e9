import { cappedFindings, type Finding, firstFindings, type JsonObject, shownName } from '../contract.ts';
import { isObject, own } from '../decode/document.ts';
import { fields } from '../fields/fields.ts';
import { dependenciesOf, enabledGates, gateNamed } from '../gates/gates.ts';
import { type ValidationInputs, Validator } from './validation.ts';
import { validateModernNode, validateModernPods } from './modern.ts';
import { validateResources } from './resources.ts';
import { SECOND } from '../../../base/go-duration.ts';

/**
 * Validates a configuration by all rules of the kubelet's own validation, for the version in `against`; every broken rule is reported.
 * Feature gates come first, as in the kubelet: the other rules depend on the gates, so they are skipped where a gate is invalid.
 * @param defaulted - result of `applyDefaults` (the rules check defaults too)
 * @returns findings without values; empty when the kubelet's validation would pass
 */
export function validate(defaulted: JsonObject, inputs: ValidationInputs): Finding[] {
  const gates = validateGates(defaulted, inputs);
  if (gates.length > 0) return cappedFindings(gates);
  const validator = new Validator(defaulted, inputs);
  validateNumbers(validator);
  validateResources(validator);
  validateShutdown(validator);
  if (validator.minor > 20) {
    validateModernNode(validator);
    validateModernPods(validator);
  }
  return cappedFindings(validator.findings);
}

/** All rules at once, for people: invalid gates are reported and then ignored for the other rules. */
export function validateAll(defaulted: JsonObject, inputs: ValidationInputs): Finding[] {
  const gates = validateGates(defaulted, inputs);
  if (gates.length === 0) return validate(defaulted, inputs);
  const given = own(defaulted, 'featureGates');
  const wrong = new Set(gates.map(({ field }) => field));
  const right = Object.entries(isObject(given) ? given : {}).filter(([name]) => !wrong.has(`featureGates.${name}`));
  return cappedFindings(gates, validate({ ...defaulted, featureGates: Object.fromEntries(right) }, inputs));
}

/** Gates that the kubelet does not have, that are locked, or whose dependency is off. It rejects all three. */
function validateGates(config: JsonObject, inputs: ValidationInputs): Finding[] {
  const { version, knownGates } = inputs;
  const given = own(config, 'featureGates');
  const findings: Finding[] = [];
  for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
    const field = `featureGates.${name}`;
    const gate = gateNamed(name, version, knownGates);
    if (gate === undefined) {
      if (version.newer !== undefined) continue; // the gate may be newer than the tables: see warnOfGates
      findings.push({
        field,
        rule: 'unknown-gate',
        message: `${field} is not a feature gate of kubelet 1.${version.minor}; it would refuse to start`,
      });
    } else if (gate.locked && (value === true) !== gate.default) {
      findings.push({
        field,
        rule: 'locked-gate',
        message: `${field} is locked ${gate.default ? 'on' : 'off'} in kubelet 1.${version.minor}; leave it out`,
      });
    }
  }
  return findings.length > 0 ? findings : brokenDependencies(config, inputs);
}

/** Gates that are on while a gate that they need is off. The kubelet checks this only when all gates that are set exist. */
function brokenDependencies(config: JsonObject, { version, flags, knownGates }: ValidationInputs): Finding[] {
  const enabled = enabledGates(config, version, flags, knownGates);
  const given = own(config, 'featureGates');
  const isSet = (name: string): boolean => isObject(given) && own(given, name) !== undefined;
  const broken = dependenciesOf(version.minor).filter(({ gate, needs }) => enabled(gate) && !enabled(needs));
  const refuses = `kubelet 1.${version.minor} would refuse to start`;
  return [...Map.groupBy(broken, ({ needs }) => needs)].map(([needs, pairs]): Finding => {
    const gates = pairs.map(({ gate }) => gate);
    const [only = ''] = gates;
    // Report the gate that the configuration sets, rather than the one that it leaves at its default.
    if (!isSet(needs) && gates.length === 1 && isSet(only)) {
      const field = `featureGates.${only}`;
      return {
        field,
        rule: 'gate-dependency',
        message: `${field} is on and needs ${needs}, which is off; ${refuses}: turn ${needs} on too`,
      };
    }
    const field = `featureGates.${needs}`;
    const on = gates.length === 1 ? `${only} is on and needs it` : `${gates.join(', ')} are on and need it`;
    const off = gates.length === 1 ? only : 'them';
    return { field, rule: 'gate-dependency', message: `${field} is off, and ${on}; ${refuses}: turn ${off} off too, or leave ${needs} on` };
  });
}

/** Warnings for gates that the tables lack, for a kubelet newer than the tables: it does not start if it lacks them too. */
export function warnOfGates(config: JsonObject, { version, knownGates }: ValidationInputs): Finding[] {
  const given = own(config, 'featureGates');
  if (version.newer === undefined || !isObject(given)) return [];
  const unknown = Object.keys(given).filter((name) => gateNamed(name, version, knownGates) === undefined);
  return firstFindings(unknown, (name) => ({
    field: `featureGates.${shownName(name)}`,
    rule: 'unknown-gate',
    message: `featureGates.${shownName(name)} is not a feature gate of kubelet 1.${version.minor}, the latest known; kubelet ${version.newer} may know it, and refuses to start if not`,
  }));
}

/** Graceful node shutdown: its three fields and their two gates. */
function validateShutdown(validator: Validator): void {
  const all = validator.duration('shutdownGracePeriod');
  const critical = validator.duration('shutdownGracePeriodCriticalPods');
  if (!validator.gate('GracefulNodeShutdown')) {
    if (all > 0n || critical > 0n) validator.add('shutdownGracePeriod', 'gate', 'needs feature gate GracefulNodeShutdown');
  } else {
    if (validator.minor > 20) {
      if (critical > all) validator.add('shutdownGracePeriodCriticalPods', 'shutdown', 'must not exceed shutdownGracePeriod');
    } else if (all < 0n || critical < 0n || critical > all) {
      validator.add('shutdownGracePeriod', 'shutdown', 'must be 0 or more, and not less than shutdownGracePeriodCriticalPods');
    }
    if (tooShort(all, validator.minor)) validator.add('shutdownGracePeriod', 'shutdown-second', 'must be 0 or at least 1s');
    if (tooShort(critical, validator.minor))
      validator.add('shutdownGracePeriodCriticalPods', 'shutdown-second', 'must be 0 or at least 1s');
  }
  if (validator.list('shutdownGracePeriodByPodPriority').length === 0) return;
  if (!validator.gate('GracefulNodeShutdownBasedOnPodPriority')) {
    validator.add('shutdownGracePeriodByPodPriority', 'gate', 'needs feature gate GracefulNodeShutdownBasedOnPodPriority');
  } else if (all > 0n || critical > 0n) {
    validator.add('shutdownGracePeriodByPodPriority', 'shutdown-both', 'cannot be used together with shutdownGracePeriod');
  }
}

/** 1.20 has a separate rule for negative periods. */
function tooShort(period: bigint, minor: number): boolean {
  return minor > 20 ? period !== 0n && period < SECOND : period > 0n && period < SECOND;
}

/** Numbers that must lie between bounds. */
const bounded = fields.flatMap(({ name, since, bounds }) => (bounds === undefined ? [] : [{ name, since, ...bounds }]));

function validateNumbers(validator: Validator): void {
  for (const { name, least, most, since, rule } of bounded) {
    if (validator.minor < since) continue;
    const value = validator.number(name);
    if (value >= least && (most === undefined || value <= most)) continue;
    validator.add(name, rule, most === undefined ? `must be ${least} or more` : `must be between ${least} and ${most}`);
  }
  const low = validator.number('imageGCLowThresholdPercent');
  if (low >= validator.number('imageGCHighThresholdPercent')) {
    validator.add('imageGCLowThresholdPercent', 'image-gc-order', 'must be less than imageGCHighThresholdPercent');
  }
}
