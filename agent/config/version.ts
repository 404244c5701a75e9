import { ActionError } from '../../base/errors.ts';
import type { KubeletVersion } from './contract.ts';

/** The kubelet minors (of major 1) that the field table covers. */
export const OLDEST_MINOR = 20;
export const NEWEST_MINOR = 34;

const SHAPE = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?([-+][0-9A-Za-z.+_~-]*)?$/;

const named = (minor: number): string => `1.${minor}`;

/**
 * Reads a kubelet version: `1.34`, `1.34.2`, `v1.34.2+vendor`.
 * @throws {ActionError} when it is no version, or one that the field table does not cover (1.20 to 1.34)
 */
export function parseKubeletVersion(text: string): KubeletVersion {
  const version = read(text);
  if (isOlder(version) || isNewer(version)) throw uncovered(version);
  return version;
}

/**
 * The same, with the newest version that the field table covers in place of a newer one: Kubernetes takes little away, so that is the
 * closest match for a later kubelet. What was added since is reported as unknown, and passed through.
 * @returns `newer` is what stands in the text, where it is newer than `version`
 * @throws {ActionError} when it is no version, or older than all that the field table covers
 */
export function closestKubeletVersion(text: string): { version: KubeletVersion; newer?: string } {
  const version = read(text);
  if (isOlder(version)) throw uncovered(version);
  if (!isNewer(version)) return { version };
  return { version: { major: 1, minor: NEWEST_MINOR, patch: 0, text: named(NEWEST_MINOR) }, newer: version.text };
}

function read(text: string): KubeletVersion {
  const trimmed = text.trim();
  const found = SHAPE.exec(trimmed);
  if (found === null) throw new ActionError('read', 'the kubelet version', { hint: 'write it as 1.34, 1.34.2 or v1.34.2+vendor' });
  const [, major, minor, patch] = found;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0), text: trimmed };
}

const isOlder = ({ major, minor }: KubeletVersion): boolean => major < 1 || (major === 1 && minor < OLDEST_MINOR);
const isNewer = ({ major, minor }: KubeletVersion): boolean => major > 1 || (major === 1 && minor > NEWEST_MINOR);

function uncovered(version: KubeletVersion): ActionError {
  const newer = isNewer(version) ? '' : `, and this one is older; upgrade the kubelet to ${named(OLDEST_MINOR)} at least`;
  return new ActionError('validate a configuration for kubelet', `${version.major}.${version.minor}`, {
    hint: `the field table covers kubelets ${named(OLDEST_MINOR)} to ${named(NEWEST_MINOR)}${newer}`,
  });
}
