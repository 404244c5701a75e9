import { decode, renderYaml, resolvePaths } from '../config/config.ts';
import type { Finding, JsonObject, KubeletVersion } from '../config/contract.ts';

/** The local config, the one that the node brings along: what is used with nothing assigned, and what policy compares with. */
export type LocalConfig =
  | { at: 'missing' }
  /** There, but no kubelet could read it. */
  | { at: 'broken'; problem: string }
  | { at: 'present'; bytes: Uint8Array; resolved: JsonObject; hasRelativePaths: boolean };

/** @param dir - where the file lies; relative paths in it mean this directory. */
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

/** The bytes a kubelet reads when nothing is assigned: the file as it is, or rendered where a relative path would change its meaning. */
export function effectiveOfLocal(local: Extract<LocalConfig, { at: 'present' }>): Uint8Array {
  return local.hasRelativePaths ? new TextEncoder().encode(renderYaml(local.resolved)) : local.bytes;
}

/** What is wrong with the local config and what that means here, in one line for log and `dkc status`; null where it can be used. */
export function localProblem(path: string, local: LocalConfig, effectiveIsThere: boolean): string | null {
  if (local.at === 'present') return null;
  const what = local.at === 'missing' ? `there is no local config ${path}` : `the local config ${path} cannot be used: ${local.problem}`;
  const then = effectiveIsThere
    ? 'without an assignment the effective file stays as it is'
    : 'and there is no effective file, so the kubelet is not restarted until there is a local config or an assignment';
  return `${what}; ${then}. Is localConfig right in /etc/dkc/agent.yaml?`;
}

/** The smallest file a kubelet accepts: all defaults. */
export const minimalConfig: JsonObject = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };

/** `maxPods: must be >= 0; port: ...`, for logs: paths and rules, no values. */
export function problemText(findings: readonly Finding[]): string {
  return findings.map(({ field, message }) => (field === '' || message.startsWith(field) ? message : `${field}: ${message}`)).join('; ');
}
