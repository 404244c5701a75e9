import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A package whose code is in a bundle. */
export interface Bundled {
  /** Folder below the checkout, such as `node_modules/yaml`. */
  dir: string;
  name: string;
  version: string;
  /** SPDX expression of its package.json, if any. */
  license: string | undefined;
  /** Its unchanged license files, including NOTICE. */
  texts: string[];
}

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)(?:[-.].*)?$/i;
/** `node_modules/NAME` or `node_modules/@SCOPE/NAME`, the innermost for nested packages. */
const PACKAGE_DIR = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/** @param inputs - paths of bundled files, as esbuild's metafile has them @returns folders of packages, each once, sorted */
export function packageDirs(inputs: readonly string[]): string[] {
  const dirs = inputs.map((input) => PACKAGE_DIR.exec(input)?.[0]).filter((dir) => dir !== undefined);
  return [...new Set(dirs)].toSorted();
}

/** @throws {Error} for a package without a license text: it must not be shipped */
export function readBundled(dir: string): Bundled {
  const { name, version, license } = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as Pick<Bundled, 'name' | 'version'> & {
    license?: string;
  };
  const files = readdirSync(dir).filter((file) => LICENSE_FILE.test(file));
  if (files.length === 0) throw new Error(`cannot bundle ${name}: ${dir} has no license file`);
  return { dir, name, version, license, texts: files.toSorted().map((file) => readFileSync(join(dir, file), 'utf8').trim()) };
}

/** The text that ships beside the bundle. */
export function thirdPartyLicenses(packages: readonly Bundled[]): string {
  const once = new Map(packages.map((one) => [`${one.name} ${one.version}`, one]));
  const parts = [...once].map(([title, { license, texts }]) => [`${title} (${license ?? 'license below'})`, ...texts].join('\n\n'));
  return ['dkc.js holds code of these packages, under these licenses.', ...parts].join(`\n\n${'-'.repeat(80)}\n\n`) + '\n';
}
