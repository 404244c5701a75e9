import { sameSource, sourceText, type MaybeSource } from '../checkpoint/source.ts';
import { signersOf } from '../evaluate/node-inputs.ts';
import type { AgentContext } from '../options.ts';

export interface SignatureFacts {
  /** A signature is all that boot missed in the assigned config. */
  bootUnsigned: boolean;
  bootAssigned: MaybeSource;
  assigned: MaybeSource;
  used: 'assigned' | 'last-known-good' | 'local';
  active: MaybeSource;
  /** Whether a key of the policy, as it is now, signed them; undefined where nobody asks, or it cannot be told. */
  isAssignedSigned: boolean | undefined;
  isActiveSigned: boolean | undefined;
}

/** What the signatures ask of a running agent: another start, or a notice for the admin. Pure. */
export function planSignatures(facts: SignatureFacts): { leave?: string; notice: string | null } {
  const { bootUnsigned, bootAssigned, assigned, active, used } = facts;
  if (bootUnsigned && sameSource(assigned, bootAssigned) && facts.isAssignedSigned !== false)
    return { leave: 'the field policy accepts the assigned config now', notice: null };
  if (active === null || facts.isActiveSigned !== false) return { notice: null };
  const then =
    used === 'assigned'
      ? 'the next start of the agent leaves it for the last known good or the local config'
      : 'it is used because there is no other file for the kubelet';
  const remedy = 'sign the ConfigMap with dkc sign, or add the public key of its signer to the policy';
  return { notice: `${sourceText(active)} runs and is signed by none of the signatureKeys in the field policy: ${then}; ${remedy}` };
}

/** @returns to be called after each change of the policy file and of the records */
export function signatureWatch({
  options,
  world,
  store,
  configState,
  shutdown,
  activeRecord,
}: Pick<AgentContext, 'options' | 'world' | 'store' | 'configState' | 'shutdown' | 'activeRecord'>): () => Promise<void> {
  return async () => {
    const ask = await signersOf(options, world.disk, store);
    // A policy that is broken lets nothing new in, and takes nothing away.
    if (ask === 'unknown') return;
    const isSigned = async (source: MaybeSource): Promise<boolean | undefined> => (ask === 'none' ? undefined : (await ask(source))?.ok);
    const { bootUnsigned, bootAssigned, picture, active } = configState;
    const { leave, notice } = planSignatures({
      bootUnsigned,
      bootAssigned,
      assigned: picture.assigned,
      used: active.used,
      active: active.source,
      isAssignedSigned: await isSigned(picture.assigned),
      isActiveSigned: await isSigned(active.source),
    });
    activeRecord.notice('signature', notice);
    if (leave !== undefined) await shutdown.leave(leave);
  };
}
