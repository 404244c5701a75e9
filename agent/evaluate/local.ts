import { decode, renderYaml, resolvePaths } from '../config/config.ts';
import type { Finding, JsonObject, KubeletVersion } from '../config/contract.ts';

/** The node's own config file: used while nothing is assigned, and compared with by the policy. */
export type LocalConfig =
  | { at: 'missing' }
  /** The file exists, but a kubelet cannot read it. */
  | { at: 'broken'; problem: string }
  | { at: 'present'; bytes: Uint8Array; resolved: JsonObject; hasRelativePaths: boolean };

/** @param dir - directory of the file; relative paths in it refer to this directory. */
export function parseLocal(bytes: Uint8Array, dir: string, version: KubeletVersion): LocalConfig {
  const decoded = decode(bytes, version);
  if (!decoded.ok) return { at: 'broken', problem: problemText(decoded.errors) };
  const resolved = resolvePaths(decoded.written, dir, version);
  return {
    at: 'present',
    bytes,
    resolved,
    hasRelativePaths: resolved !== decoded.written && renderYaml(resolved) !== renderYaml(decoded.written),
  };
}

/** The effective file while nothing is assigned: the bytes of the file, or a new rendering where relative paths must become absolute. */
export function effectiveOfLocal(local: Extract<LocalConfig, { at: 'present' }>): Uint8Array {
  return local.hasRelativePaths ? new TextEncoder().encode(renderYaml(local.resolved)) : local.bytes;
}

/** What is wrong with the local config and its consequence, in one line for log and `dkc status`; null where it is usable. */
export function localProblem(path: string, local: LocalConfig, effectiveIsThere: boolean): string | null {
  if (local.at === 'present') return null;
  const what = local.at === 'missing' ? `there is no local config ${path}` : `the local config ${path} cannot be used: ${local.problem}`;
  const then = effectiveIsThere
    ? 'without an assignment the effective file stays as it is'
    : 'and there is no effective file, so the kubelet is not restarted until there is a local config or an assignment';
  return `${what}; ${then}. Is localConfig right in /etc/dkc/agent.yaml?`;
}

/** The smallest config that a kubelet accepts: all defaults. */
export const minimalConfig: JsonObject = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/** `maxPods: must be >= 0; port: ...`, for logs: paths and rules, no values. */
export function problemText(findings: readonly Finding[]): string {
  return findings.map(({ field, message }) => (field === '' || message.startsWith(field) ? message : `${field}: ${message}`)).join('; ');
}
