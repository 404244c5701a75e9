import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, statSync } from 'node:fs';
import { build } from 'esbuild';

/** `npm run build`: everything dkc is, in dist/dkc.js. The build must not depend on where or when it ran. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown'; // a tarball without history
  }
}

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
await build({
  entryPoints: ['cli/main.ts'],
  outfile: 'dist/dkc.js',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Whitespace and syntax only: names stay, so that a stack trace in a bug report can be read. Smaller text is less memory in every agent.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  define: { 'globalThis.DKC_BUILD': JSON.stringify({ version, commit: commit() }) },
  banner: { js: "#!/usr/bin/env node\nimport{createRequire as dkcRequire}from'node:module';const require=dkcRequire(import.meta.url);" },
  logLevel: 'warning',
});
chmodSync('dist/dkc.js', 0o755);
console.log(`dist/dkc.js ${Math.round(statSync('dist/dkc.js').size / 1024)} KiB`);
