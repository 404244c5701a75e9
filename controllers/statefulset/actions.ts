import type { Slot } from './slots.ts';
import type { Claim, Pod, PodTemplate } from './types.ts';

/**
 * Why a pod goes. ended: it has failed or succeeded; scaled-down: there is no place for it; update: it is to be replaced by one of the update revision; forced: it
 * keeps the rollout waiting, and is not of the wanted revision; recreate: all of the old ones go at once.
 */
export type Because = 'ended' | 'scaled-down' | 'update' | 'forced' | 'recreate';

export type Action =
  | {
      do: 'create';
      slot: Slot;
      /** Name of the revision that the pod is of. */
      revision: string;
      template: Readonly<PodTemplate>;
      /** Made first. */
      claims: readonly Claim[];
      /** Claims that are being deleted: nothing can be made before they are gone. */
      going: readonly string[];
    }
  | { do: 'delete'; pod: Readonly<Pod>; because: Because }
  /** Claims of a pod that waits for them. */
  | { do: 'storage'; pod: Readonly<Pod>; claims: readonly Claim[]; going: readonly string[] }
  /** Who owns claims is put right. */
  | { do: 'claims'; pod: string; write: readonly Claim[]; conflicting: readonly string[] }
  | { do: 'grow'; claim: Claim }
  /** Its labels are put right. */
  | { do: 'repair'; pod: Pod };

/** What the set waits for before it goes on. */
export interface Waits {
  /** A pod's, mostly. */
  object: string;
  /** One word. */
  reason: string;
  /** For people. */
  detail: string;
}

/** Groups of actions: those of one are done at once, and a group in which something failed is the last. */
export interface Work {
  readonly groups: readonly (readonly Action[])[];
  /** undefined: it waits for nothing. */
  readonly waits: Waits | undefined;
}
