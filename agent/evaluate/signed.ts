import { readPolicy } from './node-inputs.ts';
import { ALLOW_ANNOTATION } from './evaluate.ts';
import { type MaybeSource, type Source } from '../checkpoint/source.ts';
import type { SignatureCheck, SignatureResult } from '../config/signature/check.ts';
import type { AgentOptions } from '../options.ts';
import type { Store } from '../store/store.ts';
import type { Disk } from '../../base/disk.ts';

/** Asks who signed what a checkpoint holds; undefined for local, and where the checkpoint cannot be read. */
export type AskSigner = (source: MaybeSource) => Promise<SignatureResult | undefined>;

/** By the policy as it is on disk now. `none`: it asks for no signatures; `unknown`: it cannot be used. */
export async function signersOf(
  { policy }: Pick<AgentOptions, 'policy'>,
  disk: Pick<Disk, 'readLinked'>,
  store: Pick<Store, 'load'>,
): Promise<AskSigner | 'none' | 'unknown'> {
  const { signatureCheck, problem } = await readPolicy(policy, disk);
  if (problem !== undefined) return 'unknown';
  if (signatureCheck === undefined) return 'none';
  return async (source) => (source === null ? undefined : await signerOf(source, store, signatureCheck));
}

async function signerOf(source: Source, store: Pick<Store, 'load'>, check: SignatureCheck): Promise<SignatureResult | undefined> {
  const state = await store.load(source);
  if (state.at !== 'intact') return undefined;
  const { files, annotations } = state.checkpoint.payload;
  const { namespace, name, kubeletConfigKey } = source;
  return check({ files, kubeletConfigKey, allow: annotations[ALLOW_ANNOTATION] }, `${namespace}/${name}`);
}
