import type { Arch } from './node-binary.ts';

/** Placeholder for the publisher's URL: a manifest with it cannot install anything. */
export const EXAMPLE_BASE = 'https://dkc.invalid/releases';

export const pluginName = (version: string, arch: Arch): string => `kubectl-dkc-${version}-linux-${arch}.tar.gz`;

export interface Archive {
  arch: Arch;
  file: string;
  /** Hex. */
  sha256: string;
}

/**
 * The manifest for `kubectl krew install --manifest=dkc.krew.yaml`: an archive per platform, with its hash. Only Linux, since the archive
 * contains Node.js.
 * @param of - base: URL of the archives, without a trailing slash
 * @see https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
 */
export function krewManifest({ version, archives, base }: { version: string; archives: readonly Archive[]; base: string }): string {
  const platforms = archives.map(
    ({ arch, file, sha256 }) => `    - selector:
        matchLabels:
          os: linux
          arch: ${arch}
      uri: ${JSON.stringify(`${base}/${file}`)}
      sha256: ${JSON.stringify(sha256)}
      bin: kubectl-dkc
`,
  );
  return `apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: dkc
spec:
  version: ${JSON.stringify(`v${version}`)}
  shortDescription: Roll out kubelet configuration to live nodes
  description: |
    Assigns kubelet configurations from ConfigMaps to nodes and rolls them out over a
    fleet in steps, shows what every node runs and why, and rolls back what breaks a
    kubelet. The nodes need the agent of Dynamic Kubelet Config.
  caveats: |
    For shell completion, link kubectl_complete-dkc, which is next to the plugin, into your PATH.
  platforms:
${platforms.join('')}`;
}
