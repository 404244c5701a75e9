import { ActionError } from '../../base/errors.ts';
import type { KubeletVersion } from './contract.ts';

/** The kubelet minors (of major 1) that the tables of fields and gates cover. */
export const OLDEST_MINOR = 20;
export const NEWEST_MINOR = 37;

const SHAPE = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?([-+][0-9A-Za-z.+_~-]*)?$/;

const named = (minor: number): string => `1.${minor}`;

/** The kubelet versions that are validated by their own rules, for people. */
export const COVERED = `${named(OLDEST_MINOR)} to ${named(NEWEST_MINOR)}`;
/** How a version may be written, for people. */
export const SHAPES = `${named(NEWEST_MINOR)}, ${named(NEWEST_MINOR)}.2 or v${named(NEWEST_MINOR)}.2+vendor`;

/**
 * Reads a kubelet version: `1.34`, `1.34.2`, `v1.34.2+vendor`.
 * @throws {ActionError} when `text` is not a version, or a version that the tables do not cover
 */
export function parseKubeletVersion(text: string): KubeletVersion {
  const version = read(text);
  if (isOlder(version) || isNewer(version)) throw uncovered(version);
  return version;
}

/**
 * As {@link parseKubeletVersion}, but a version newer than the tables is replaced by the newest that they cover: Kubernetes removes little, so that is
 * the closest match. Fields and gates that the tables lack may have been added since: they are passed through with a warning.
 * @returns `newer`, also in `version`: the version in the text, where it is newer than the tables
 * @throws {ActionError} when `text` is not a version, or older than the tables
 */
export function closestKubeletVersion(text: string): { version: KubeletVersion; newer?: string } {
  const version = read(text);
  if (isOlder(version)) throw uncovered(version);
  if (!isNewer(version)) return { version };
  const newer = version.text;
  return { version: { major: 1, minor: NEWEST_MINOR, patch: 0, text: named(NEWEST_MINOR), newer }, newer };
}

function read(text: string): KubeletVersion {
  const trimmed = text.trim();
  const found = SHAPE.exec(trimmed);
  if (found === null) throw new ActionError('read', 'the kubelet version', { hint: `write it as ${SHAPES}` });
  const [, major, minor, patch] = found;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0), text: trimmed };
}

const isOlder = ({ major, minor }: KubeletVersion): boolean => major < 1 || (major === 1 && minor < OLDEST_MINOR);
const isNewer = ({ major, minor }: KubeletVersion): boolean => major > 1 || (major === 1 && minor > NEWEST_MINOR);

function uncovered(version: KubeletVersion): ActionError {
  const newer = isNewer(version) ? '' : `, and this one is older; upgrade the kubelet to ${named(OLDEST_MINOR)} at least`;
  return new ActionError('validate a configuration for kubelet', `${version.major}.${version.minor}`, {
    hint: `kubelets ${COVERED} are known${newer}`,
  });
}
