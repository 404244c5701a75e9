import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { base, stageBase, USER } from './image/base.ts';
import { ImageLayout } from './image/layout.ts';
import { stageProduct } from './image/product.ts';
import { archs } from './package/node-binary.ts';
import { chosen, missingTools } from './package/options.ts';
import { releaseOf } from './package/tree.ts';

/**
 * `npm run image`: the container image of this checkout as an OCI image layout, dist/image, and as a single file, with all architectures under
 * one index; needs no daemon. `--arch` (repeated) selects architectures, `--fast` compresses less, `--version` overrides the version of
 * package.json. Two runs at one commit write the same bytes (docs/packages.md).
 */
const { values } = parseArgs({
  options: {
    arch: { type: 'string', multiple: true, default: [...archs] },
    out: { type: 'string', default: 'dist/image' },
    version: { type: 'string' },
    fast: { type: 'boolean', default: false },
  },
});
const wanted = chosen(values.arch, archs);
missingTools('image', wanted, ['apt-get', 'dpkg-deb', 'tar', 'gzip']);

// The modes of directories are part of a layer.
process.umask(0o022);
const version = values.version ?? (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
const release = releaseOf(version);
const { out, fast } = values;
const scratch = mkdtempSync(join(tmpdir(), 'dkc-image-'));
try {
  const bundle = join(scratch, 'bundle');
  execFileSync(process.execPath, ['scripts/build.ts', `--out=${bundle}`, `--version=${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const layout = new ImageLayout(out, release);
  const tar = join(scratch, 'layer.tar');
  for (const arch of wanted) {
    const [lower, upper] = [join(scratch, `base-${arch}`), join(scratch, `product-${arch}`)];
    for (const dir of [lower, upper]) mkdirSync(dir);
    stageBase(lower, arch, scratch);
    await stageProduct(upper, bundle, arch, release, scratch);
    // Not the commit's time, so that the next release with the same Node.js and libraries has the same layer.
    const first = layout.layer(lower, { createdBy: 'Node.js, libraries and certificates', epoch: base.epoch, fast, tar });
    const second = layout.layer(upper, { createdBy: `dkc ${version}`, epoch: release.epoch, fast, tar });
    layout.image(arch, USER, [first, second]);
    const sizes = [first, second].map(({ descriptor }) => `${(descriptor.size / 2 ** 20).toFixed(1)} MiB`);
    console.log(`linux/${arch}: ${sizes.join(' + ')} compressed`);
  }
  const digest = layout.finish();
  const file = `${out}.tar`;
  layout.archive(file);
  console.log(`${out}, ${file}: ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB, ${digest}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
