import { contentRef } from './content.ts';
import type { Store } from './store.ts';
import type { ContentRef } from '../checkpoint/payload.ts';
import type { MaybeSource } from '../checkpoint/source.ts';

/**
 * The content that a record stands for; undefined for local, and where its checkpoint is missing or damaged.
 * @param adopt - gives a checkpoint of upstream's the manifest it lacks
 */
export async function storedContent(
  store: Pick<Store, 'load'>,
  source: MaybeSource,
  { adopt = false }: { adopt?: boolean } = {},
): Promise<ContentRef | undefined> {
  if (source === null) return undefined;
  const state = await (adopt ? store.load(source, source) : store.load(source));
  return state.at === 'intact' ? contentRef(state.checkpoint.manifest.files, source.kubeletConfigKey) : undefined;
}
