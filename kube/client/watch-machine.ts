import { unreachable } from '../../base/errors.ts';
import type { KubeObject } from '../api/object.ts';

/**
 * Where a list-and-watch loop stands.
 *
 * relisting --listed--> watching                 relisting --anything else--> relisting
 * watching --changed, bookmark--> watching, at the newer version
 * watching --expired (410), too-large--> relisting   watching --closed, failed--> watching, at the same version
 *
 * The driver lists or watches as the state says, waits between failures, and chooses no edge of its own.
 */
export type Watch = { at: 'relisting' } | { at: 'watching'; rv: string };

export type Saw =
  | { kind: 'listed'; rv: string }
  /** An event, or a bookmark; without a version it moves nothing. */
  | { kind: 'changed' | 'bookmark'; rv: string | undefined }
  | { kind: 'expired' }
  /** The next event has more in it than a client takes: every watch from this version would begin with it again. */
  | { kind: 'too-large' }
  /** The server ended the watch, as it does every few minutes. */
  | { kind: 'closed' }
  | { kind: 'failed' };

export function next(state: Watch, saw: Saw): Watch {
  switch (saw.kind) {
    case 'listed':
      return { at: 'watching', rv: saw.rv };
    case 'changed':
    case 'bookmark':
      return state.at === 'watching' && saw.rv !== undefined && saw.rv !== '' ? { at: 'watching', rv: saw.rv } : state;
    case 'expired':
    case 'too-large':
      return { at: 'relisting' };
    case 'closed':
    case 'failed':
      return state;
    default:
      return unreachable(saw);
  }
}

/** What is known of one object: nothing yet, that it is not there, or which version of which object. */
export type Known = 'unknown' | 'absent' | { uid: string | undefined; rv: string | undefined };

/** Whether `object` (undefined: it is not there) is news to someone who knows `known`, and what is known after it. */
export function learn(known: Known, object: KubeObject | undefined): { known: Known; news: boolean } {
  if (object === undefined) return { known: 'absent', news: known !== 'absent' };
  const { uid, resourceVersion: rv } = object.metadata;
  // Without a version nothing can be compared: better said twice than not at all.
  const isSame = typeof known === 'object' && rv !== undefined && known.rv === rv && known.uid === uid;
  return { known: { uid, rv }, news: !isSame };
}
