import { brotliCompressSync, constants } from 'node:zlib';
import type { Plugin } from 'esbuild';

/**
 * Keeps the agent small although the bundle is one file. Code that only other commands need is bundled separately, compressed, and appended as
 * comment lines (`//dkc:NAME BASE64`), which the engine skips. An `import()` of this code becomes a call of `dkcUnpack(NAME)`.
 */
export interface Pack {
  name: string;
  /** Import paths of the pack's modules, as written in the importing files. */
  paths: RegExp;
}

export function packPlugin(packs: readonly Pack[]): Plugin {
  return {
    name: 'pack',
    setup: (build) => {
      for (const { name, paths } of packs) {
        build.onResolve({ filter: paths }, ({ kind }) => (kind === 'dynamic-import' ? { path: name, namespace: 'packed' } : undefined));
      }
      build.onLoad({ filter: /.*/, namespace: 'packed' }, ({ path }) => ({
        contents: `module.exports = globalThis.dkcUnpack(${JSON.stringify(path)})`,
        loader: 'js',
      }));
    },
  };
}

/** Runs before everything else. A pack is compiled as a module beside the file, so that its stack traces name it. */
export const unpacker = `globalThis.dkcUnpack = (name) => {
  const text = require('node:fs').readFileSync(__filename, 'latin1');
  const from = text.lastIndexOf('\\n//dkc:' + name + ' ');
  if (from < 0) throw new Error(__filename + ' is cut short; install it again');
  const at = from + name.length + 8;
  const end = text.indexOf('\\n', at);
  const code = require('node:zlib').brotliDecompressSync(Buffer.from(text.slice(at, end < 0 ? undefined : end), 'base64'));
  const Module = require('node:module');
  const packed = new Module(__filename + '#' + name, module);
  packed.filename = __filename;
  packed.paths = module.paths;
  packed._compile(code.toString(), __filename + '#' + name);
  return packed.exports;
};`;

/** The line that is appended to the code. */
export function packedLine(name: string, code: Uint8Array): string {
  // A single non-ASCII character makes the engine store the whole text with two bytes per character.
  if (code.some((byte) => byte > 0x7f)) throw new Error(`the code of ${name} is not all ASCII: write other characters as \\u escapes`);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };
  return `//dkc:${name} ${brotliCompressSync(code, quality).toString('base64')}\n`;
}

/**
 * Removes prom-client's default metrics of the process, which bring OpenTelemetry and cluster, and which dkc does not use.
 * @param kinds - metric types to keep besides Counter, Gauge and Registry
 */
export const onlyOwnMetrics = (...kinds: readonly 'Histogram'[]): Plugin => ({
  name: 'only-own-metrics',
  setup: (build) => {
    build.onResolve({ filter: /^prom-client$/ }, ({ resolveDir }) => ({
      path: 'prom-client',
      namespace: 'own-metrics',
      pluginData: resolveDir,
    }));
    build.onLoad({ filter: /.*/, namespace: 'own-metrics' }, ({ pluginData }) => ({
      contents: ['Counter', 'Gauge', 'Registry', ...kinds]
        .map((name) => `exports.${name} = require('prom-client/lib/${name.toLowerCase()}');`)
        .join('\n'),
      loader: 'js',
      resolveDir: String(pluginData),
    }));
  },
});

/**
 * Loads the YAML library on first use: nearly every file of an agent is simple enough for our reader
 * (agent/config/yaml/read-simple-yaml.ts), and then the library costs neither start time nor memory.
 */
export const yamlWhenNeeded: Plugin = {
  name: 'yaml-when-needed',
  setup: (build) => {
    build.onResolve({ filter: /^yaml$/ }, ({ kind, resolveDir }) =>
      kind === 'require-call' ? undefined : { path: 'yaml', namespace: 'when-needed', pluginData: resolveDir },
    );
    build.onLoad({ filter: /.*/, namespace: 'when-needed' }, async ({ pluginData }) => ({
      contents: Object.keys(await import('yaml'))
        .map((name) => `Object.defineProperty(exports, '${name}', { enumerable: true, get: () => require('yaml').${name} });`)
        .join('\n'),
      loader: 'js',
      resolveDir: String(pluginData),
    }));
  },
};
