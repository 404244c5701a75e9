import type { SpecSource } from '../../agent/checkpoint/source.ts';

/** A source in a table: `NS/NAME:KEY`, with `UID/RV` behind it where there is room; `local` for none. */
export function sourceCell(source: (SpecSource & { uid?: string; resourceVersion?: string }) | null, wide: boolean): string {
  if (source === null) return 'local';
  const short = `${source.namespace}/${source.name}:${source.kubeletConfigKey}`;
  return wide && source.uid ? `${short} ${source.uid}/${source.resourceVersion ?? ''}` : short;
}
