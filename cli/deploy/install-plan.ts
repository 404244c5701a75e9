/** A line of the package's manifest: a file that install.sh installs. */
export interface PackageFile {
  /** Absolute, on the node. */
  path: string;
  /** SHA-256 in hex; undefined of a link. */
  sha256: string | undefined;
}

/** SHA-256 of the files that exist on a node, by path. */
export type Found = ReadonlyMap<string, string>;

/** Owned by the administrator after the first installation. */
const SETTINGS = '/etc/dkc/agent.yaml';

/**
 * Parses the two lists in a package that install.sh uses.
 * @param manifest - lines `MODE PATH`
 * @param sums - output of sha256sum, with paths that begin with `./`
 * @throws {Error} for a path that is not absolute, or a file without a hash
 */
export function packageFiles(manifest: string, sums: string): PackageFile[] {
  const lines = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  const hashes = new Map(lines(sums).map((line) => [line.slice(66).replace(/^\./, ''), line.slice(0, 64)]));
  return lines(manifest).map((line) => {
    const [mode = '', path = ''] = line.split(/ (.*)/s, 2);
    if (!path.startsWith('/') || path.split('/').includes('..')) throw new Error(`the package's manifest names ${JSON.stringify(path)}`);
    const sha256 = hashes.get(path);
    if (mode !== '0777' && sha256 === undefined) throw new Error(`the package has no SHA-256 of ${path}`);
    return { path, sha256 };
  });
}

/** Files that are missing or differ from the package. The settings file may differ. */
export const differing = (files: readonly PackageFile[], found: Found): string[] =>
  files.filter(({ path, sha256 }) => sha256 !== undefined && path !== SETTINGS && found.get(path) !== sha256).map(({ path }) => path);

/** @param record - of the installed package; install.sh writes it last. @param isUnfinished - the last installation was interrupted */
export function needsInstall(
  files: readonly PackageFile[],
  of: { found: Found; manifest: string; record: string | undefined; isUnfinished: boolean },
): boolean {
  return of.isUnfinished || of.record !== of.manifest || differing(files, of.found).length > 0;
}
