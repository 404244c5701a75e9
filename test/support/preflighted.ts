import assert from 'node:assert/strict';
import type { Finding, HostFacts, JsonObject, KubeletFacts } from '../../agent/config/contract.ts';
import { decode } from '../../agent/config/decode/decode.ts';
import { applyDefaults } from '../../agent/config/defaults.ts';
import { preflightFatal } from '../../agent/config/preflight/preflight.ts';
import { validate } from '../../agent/config/rules/validate.ts';
import { parseKubeletVersion } from '../../agent/config/version.ts';

const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const place = ({ field, rule }: Finding): string => `${field} ${rule}`;

/** What a kubelet of `version` makes of a text without apiVersion and kind. */
export function defaulted(text: string, version = '1.34'): JsonObject {
  const decoded = decode(new TextEncoder().encode(KIND + text), parseKubeletVersion(version));
  assert.ok(decoded.ok, text);
  return applyDefaults(decoded.written, parseKubeletVersion(version));
}

/** Errors and warnings of preflight, as `field rule`. What breaks a rule of the validation is no case for preflight: that fails. */
export function preflighted(text: string, host: HostFacts = {}, minor = '1.34', args: KubeletFacts['args'] = []) {
  const version = parseKubeletVersion(minor);
  const config = defaulted(text, minor);
  assert.deepEqual(validate(config, { version }).map(place), [], text);
  const { errors, warnings } = preflightFatal(config, host, { version, args });
  return { errors: errors.map(place), warnings: warnings.map(place) };
}
