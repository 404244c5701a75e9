import { readFileSync } from 'node:fs';

/** Files of the fleet page. `scripts/build.ts` embeds their text in the bundle. */
export const pageAssetNames = [
  'index.html',
  'page.css',
  'icon.svg',
  'page.js',
  'dom.js',
  'fleet.js',
  'grid.js',
  'look.js',
  'panel.js',
  'rollouts.js',
  'stream.js',
] as const;

/** Their text by name. */
export function pageAssets(): ReadonlyMap<string, string> {
  const text = (name: string): string => readFileSync(new URL(`../../controllers/page/assets/${name}`, import.meta.url), 'utf8');
  return new Map(pageAssetNames.map((name) => [name, text(name)]));
}
