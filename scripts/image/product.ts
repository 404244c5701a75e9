import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installScript, manifestText, sumsText } from '../package/formats.ts';
import { sha256, type Arch } from '../package/node-binary.ts';
import { sbom, stage, type Release } from '../package/tree.ts';
import { launcherFlags } from '../launcher-flags.ts';
import { baseComponents } from './base.ts';

/** Directory in the image with the package for nodes. */
const PACKAGE = '/usr/lib/dkc/package';
/** Files of the package that the image itself also has at these paths, so that Node.js is stored only once. */
const shared = new Set(['/usr/lib/dkc/node', '/usr/lib/dkc/dkc.js']);
const doc = '/usr/share/doc/dkc';

/**
 * The launcher of the image. The package's script cannot run, since the image has no shell.
 * @throws if the package's launcher has several Node.js flags: a `#!` line takes only one
 */
function entry(): string {
  const flags = launcherFlags();
  if (flags.length > 1)
    throw new Error('systemd/dkc gives Node.js several flags, and the first line of /usr/bin/dkc in the image takes one');
  return `#!/usr/lib/dkc/node ${flags.join('')}\nrequire('/usr/lib/dkc/dkc.js');\n`;
}

/** Notice about the Debian files in the first layer, and their sources. */
const debianNotice = (arch: Arch): string => `
${'='.repeat(80)}

This image has files of these packages of Debian 12 for ${arch}, as Debian built them. Their licenses are in
/usr/share/doc/PACKAGE/copyright and /usr/share/common-licenses; their sources are Debian's source packages of these versions.

${baseComponents(arch)
  .map(({ name, version, license }) => `${name} ${version}: ${license}\n`)
  .join('')}`;

/** Writes the files above the first layer: the bundle, and the package for the node installer. @param scratch - an empty directory */
export async function stageProduct(root: string, bundle: string, arch: Arch, release: Release, scratch: string): Promise<void> {
  const packaged = join(scratch, `package-${arch}`);
  const entries = await stage(packaged, bundle, arch, release);
  const copy = (from: string, to: string): void => {
    mkdirSync(dirname(join(root, to)), { recursive: true });
    cpSync(join(packaged, from), join(root, to), { verbatimSymlinks: true });
  };
  const put = (path: string, mode: number, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  copy('/usr/lib/dkc/dkc.js', '/usr/lib/dkc/dkc.js');
  put('/usr/bin/dkc', 0o755, entry());
  copy(`${doc}/LICENSE`, `${doc}/LICENSE`);
  put(`${doc}/NOTICE`, 0o644, readFileSync(join(packaged, doc, 'NOTICE'), 'utf8') + debianNotice(arch));
  const node = sha256(readFileSync(join(packaged, 'usr/lib/dkc/node')));
  put(`${doc}/sbom.cdx.json`, 0o644, sbom(bundle, arch, release, node, baseComponents(arch)));
  for (const { path } of entries) if (!shared.has(path)) copy(path, `${PACKAGE}/files${path}`);
  put(`${PACKAGE}/manifest`, 0o644, manifestText(entries));
  put(`${PACKAGE}/sha256sums`, 0o644, sumsText(packaged, entries));
  put(`${PACKAGE}/install.sh`, 0o755, installScript());
}
