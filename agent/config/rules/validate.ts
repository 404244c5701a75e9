import type { Finding, JsonObject } from '../contract.ts';
import { isObject, own } from '../decode/document.ts';
import { cappedFindings } from '../findings.ts';
import { gateNamed } from '../gates/gates.ts';
import { type Against, Judge } from './validation.ts';
import { judgeModernNode } from './modern-node.ts';
import { judgeModernPods } from './modern-pods.ts';
import { judgeNumbers } from './numbers.ts';
import { judgeResources } from './resources.ts';
import { judgeShutdown } from './shutdown.ts';

/**
 * Judges a configuration by all rules of the kubelet's own validation, for the version in `against`; every broken rule is reported.
 * Feature gates come first, as there: without knowing which are on, the rest cannot be judged, and is not.
 * @param defaulted - what `applyDefaults` made (the rules look at defaults too)
 * @returns findings without values; empty when the kubelet would go on to start
 */
export function validate(defaulted: JsonObject, against: Against): Finding[] {
  const gates = judgeGates(defaulted, against);
  if (gates.length > 0) return cappedFindings(gates);
  const judge = new Judge(defaulted, against);
  judgeNumbers(judge);
  judgeResources(judge);
  judgeShutdown(judge);
  if (judge.minor > 20) {
    judgeModernNode(judge);
    judgeModernPods(judge);
  }
  return cappedFindings(judge.findings);
}

/** All of it at once, for people: what does not depend on gates that are wrong is judged as if they were not there. */
export function validateAll(defaulted: JsonObject, against: Against): Finding[] {
  const gates = judgeGates(defaulted, against);
  if (gates.length === 0) return validate(defaulted, against);
  const given = own(defaulted, 'featureGates');
  const wrong = new Set(gates.map(({ field }) => field));
  const right = Object.entries(isObject(given) ? given : {}).filter(([name]) => !wrong.has(`featureGates.${name}`));
  return cappedFindings(gates, validate({ ...defaulted, featureGates: Object.fromEntries(right) }, against));
}

/** Gates that the kubelet does not know, or that it no longer lets anyone change. It refuses both. */
export function judgeGates(config: JsonObject, { version, knownGates }: Against): Finding[] {
  const given = own(config, 'featureGates');
  if (!isObject(given)) return [];
  const findings: Finding[] = [];
  for (const [name, value] of Object.entries(given)) {
    const field = `featureGates.${name}`;
    const gate = gateNamed(name, version, knownGates);
    if (gate === undefined) {
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
  return findings;
}
