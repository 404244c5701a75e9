import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, type Plugin } from 'esbuild';
import { packageDirs, readBundled, thirdPartyLicenses } from './licenses.ts';
import { pageText } from './page-text.ts';
import { onlyOwnMetrics, packedLine, packPlugin, unpacker, yamlWhenNeeded, type Pack } from './pack.ts';

/**
 * `npm run build`: bundles dkc into dist/dkc.js. The result depends only on the sources and the commit. `--out=DIR` writes to another directory,
 * `--version=VERSION` overrides the version of package.json.
 */
const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' }, version: { type: 'string' } } });
const { out } = values;

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown'; // a tarball without history
  }
}

const version = values.version ?? (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;

/** Source files of all bundles below. */
const inputs: string[] = [];

/** One file of CommonJS: see docs/decisions/0006-commonjs-bundle.md. */
async function bundle(entry: string, plugins: Plugin[], banner = ''): Promise<Uint8Array> {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    outfile: 'dist/dkc.js',
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    // Dynamic imports of Node's modules become `require`, like static ones.
    supported: { 'dynamic-import': false },
    // Identifiers are kept, so that stack traces in bug reports are readable.
    minifyWhitespace: true,
    minifySyntax: true,
    // Complete licenses are in a separate file, since few packages have them in comments.
    legalComments: 'none',
    define: { 'globalThis.DKC_BUILD': JSON.stringify({ version, commit: commit() }), 'import.meta.url': 'dkcFileUrl' },
    banner: { js: `${banner}const dkcFileUrl=require('node:url').pathToFileURL(__filename).href;` },
    logLevel: 'warning',
    plugins,
  });
  inputs.push(...Object.keys(metafile.inputs));
  const [file] = outputFiles;
  if (!file) throw new Error(`nothing was built from ${entry}`);
  return file.contents;
}

const commands: Pack = { name: 'commands', paths: /^\.\/every-command\.ts$/ };

const lean = [packPlugin([commands]), onlyOwnMetrics(), yamlWhenNeeded];
const agent = await bundle('cli/main.ts', lean, `#!/usr/bin/env node\n${unpacker}`);
const packs = [packedLine(commands.name, await bundle('cli/every-command.ts', [onlyOwnMetrics('Histogram'), pageText]))];
mkdirSync(out, { recursive: true });
const code = Buffer.from(agent).toString().trimEnd();
writeFileSync(join(out, 'dkc.js'), [code, '\n', ...packs].join(''));
// The checkout's package.json declares .js files as ES modules; an installed dkc has no package.json above it.
writeFileSync(join(out, 'package.json'), '{"type":"commonjs"}\n');
chmodSync(join(out, 'dkc.js'), 0o755);
const packages = packageDirs(inputs).map(readBundled);
writeFileSync(join(out, 'THIRD_PARTY_LICENSES'), thirdPartyLicenses(packages));
// Input for the software bill of materials.
writeFileSync(
  join(out, 'bundled.json'),
  `${JSON.stringify(
    packages.map(({ dir, name, version, license }) => ({ dir, name, version, license })),
    null,
    1,
  )}\n`,
);
const kib = (bytes: number): string => `${Math.round(bytes / 1024)} KiB`;
console.log(`${out}/dkc.js: ${packages.length} bundled packages, agent ${kib(agent.length)}, commands ${kib(packs[0]?.length ?? 0)}`);
