import { ActionError } from '../../base/errors.ts';
import type { KubeletVersion } from './contract.ts';

/** The kubelet minors (of major 1) that the field table covers. */
export const OLDEST_MINOR = 20;
export const NEWEST_MINOR = 34;

const SHAPE = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?([-+][0-9A-Za-z.+_~-]*)?$/;

/**
 * Reads a kubelet version: `1.34`, `1.34.2`, `v1.34.2+vendor`.
 * @throws {ActionError} when it is no version, or one that the field table does not cover (1.20 to 1.34)
 */
export function parseKubeletVersion(text: string): KubeletVersion {
  const trimmed = text.trim();
  const found = SHAPE.exec(trimmed);
  if (found === null) throw new ActionError('read', 'the kubelet version', { hint: 'write it as 1.34, 1.34.2 or v1.34.2+vendor' });
  const [, major, minor, patch] = found;
  const version = { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0), text: trimmed };
  if (version.major !== 1 || version.minor < OLDEST_MINOR || version.minor > NEWEST_MINOR) {
    throw new ActionError('judge a configuration for kubelet', `${version.major}.${version.minor}`, {
      hint: `the field table covers kubelets 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`,
    });
  }
  return version;
}
