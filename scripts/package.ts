import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { archs, sha256, type Arch } from './package/node-binary.ts';
import { formats, type Format } from './package/formats.ts';
import { EXAMPLE_BASE, krewManifest, pluginName } from './package/krew.ts';
import { chosen, missingTools } from './package/options.ts';
import { releaseOf, stage } from './package/tree.ts';

/**
 * `npm run package`: packages of this checkout in dist/packages, for each architecture and format, with SHA256SUMS and bills of materials beside
 * them. `--arch`, `--format` (repeated) select some, `--fast` compresses less, `--version` overrides the version of package.json,
 * `--download-base=URL` sets the URL from which krew downloads.
 * Two runs at one commit write the same bytes (docs/packages.md).
 */
const { values } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: [...archs] },
    format: { type: 'string', multiple: true, default: Object.keys(formats) },
    out: { type: 'string', default: 'dist/packages' },
    version: { type: 'string' },
    'download-base': { type: 'string' },
    fast: { type: 'boolean', default: false },
  },
});

const wanted = { archs: chosen(values.arch, archs), formats: chosen(values.format, Object.keys(formats) as Format[]) };
missingTools('package', wanted.archs);

// The modes of directories are part of a package.
process.umask(0o022);
const version = values.version ?? (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const release = releaseOf(version);
const scratch = mkdtempSync(join(tmpdir(), 'dkc-package-'));
try {
  execFileSync(process.execPath, ['scripts/build.ts', `--out=${join(scratch, 'bundle')}`, `--version=${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  mkdirSync(values.out, { recursive: true });
  const made: string[] = [];
  for (const arch of wanted.archs) made.push(...(await packagesOf(arch)));
  if (wanted.formats.includes('krew')) made.push(krewFile());
  writeFileSync(join(values.out, 'SHA256SUMS'), made.toSorted().map((file) => `${sha256(readFileSync(file))}  ${basename(file)}\n`).join('')); // prettier-ignore
  for (const file of made) console.log(`${file}: ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Writes the krew manifest with the hashes of the archives of this run. */
function krewFile(): string {
  const file = join(values.out, 'dkc.krew.yaml');
  const archives = wanted.archs.map((arch) => ({ arch, file: pluginName(version, arch) }));
  const hashed = archives.map(({ arch, file: name }) => ({ arch, file: name, sha256: sha256(readFileSync(join(values.out, name))) }));
  writeFileSync(file, krewManifest({ version, archives: hashed, base: values['download-base'] ?? EXAMPLE_BASE }));
  return file;
}

async function packagesOf(arch: Arch): Promise<string[]> {
  const dir = join(scratch, arch);
  const root = join(dir, 'root');
  const entries = await stage(root, join(scratch, 'bundle'), arch, release);
  const bill = join(values.out, `dkc-${version}-linux-${arch}.cdx.json`);
  copyFileSync(join(root, 'usr/share/doc/dkc/sbom.cdx.json'), bill);
  return [
    ...wanted.formats.map((format) => formats[format]({ root, entries, arch, release, out: values.out, scratch: dir, fast: values.fast })),
    bill,
  ];
}
