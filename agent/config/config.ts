import { stringify } from 'yaml';
import type { Finding, HostFacts, JsonObject, KubeletFacts, KubeletVersion } from './contract.ts';
import { NEWEST_MINOR, parseKubeletVersion } from './version.ts';
import { validate as judgeAll } from './validate.ts';

/** PROVISIONAL: what is not in this folder yet, so that the agent can be tried; replaced by the real pieces as they come. */
export { decode } from './decode.ts';
export { applyDefaults } from './defaults.ts';
export { parseKubeletVersion } from './version.ts';
export const newestKubeletVersion: KubeletVersion = parseKubeletVersion(`1.${NEWEST_MINOR}`);
export function applyFlags(
  written: JsonObject,
  _args: readonly string[],
  _version: KubeletVersion,
): { merged: JsonObject; shadowed: { field: string; flag: string }[]; errors: Finding[] } {
  return { merged: written, shadowed: [], errors: [] };
}
export function resolvePaths(written: JsonObject, _dir: string, _version: KubeletVersion): JsonObject {
  return written;
}
export function mergeOverlay(local: JsonObject, dynamic: JsonObject): JsonObject {
  return { ...local, ...dynamic };
}
export function renderYaml(object: JsonObject): string {
  return stringify(object, { version: '1.1' });
}
export function validate(defaulted: JsonObject, kubelet: KubeletFacts): { errors: Finding[]; warnings: Finding[] } {
  return { errors: judgeAll(defaulted, { version: kubelet.version }), warnings: [] };
}
export function preflightFatal(
  _defaulted: JsonObject,
  _host: HostFacts,
  _kubelet: KubeletFacts,
): { errors: Finding[]; warnings: Finding[] } {
  return { errors: [], warnings: [] };
}
export function pathsToProbe(_defaulted: JsonObject): string[] {
  return [];
}
export interface FieldPolicy {
  overrides: boolean;
}
export const defaultPolicy: FieldPolicy = { overrides: true };
export function parsePolicy(_text: string): FieldPolicy {
  return defaultPolicy;
}
export function judgePolicy(_input: {
  local: JsonObject;
  dynamic: JsonObject;
  version: KubeletVersion;
  policy: FieldPolicy;
  merge: string;
  allow: string | undefined;
}): Finding[] {
  return [];
}
export const preflightSysctls: readonly string[] = [];
export function parseKubeletHelp(_text: string): {
  knownFlags: ReadonlySet<string>;
  knownGates: ReadonlyMap<string, { default: boolean; stage: string }>;
} {
  return { knownFlags: new Set(), knownGates: new Map() };
}
