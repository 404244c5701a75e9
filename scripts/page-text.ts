import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';
import { pageAssetNames } from '../cli/controllers/page-assets.ts';

/** Embeds the files of the fleet page in the bundle; the source reads them from their directory. */
export const pageText: Plugin = {
  name: 'page-text',
  setup: (build) => {
    build.onLoad({ filter: /[/\\]cli[/\\]controllers[/\\]page-assets\.ts$/ }, () => {
      const texts = pageAssetNames.map((name) => [name, readFileSync(`controllers/page/assets/${name}`, 'utf8')]);
      return { contents: `export const pageAssets = () => new Map(${JSON.stringify(texts)});`, loader: 'js' };
    });
  },
};
