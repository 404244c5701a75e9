/** Releases of Kubernetes, as N of `1.N`: how a version is read, and from which release on a server behaves differently. */

/** N of `1.N`, `v1.N.2` or `v1.N.2+vendor`; undefined if it is not such a version. */
export function minorOf(version: string): number | undefined {
  const [, minor] = /^v?1\.(\d{1,3})(?!\d)/.exec(version) ?? [];
  return minor === undefined ? undefined : Number(minor);
}

/** Last release that stores `Node.spec.configSource` and `status.config`, if the gate is on. Later ones drop them from Nodes that did not have them. */
export const LAST_WITH_CONFIG_SOURCE = 25;
/** First release that serves ValidatingAdmissionPolicy v1, the newest of what our manifests have. */
export const FIRST_WITH_POLICIES = 30;
