import { dirname, join } from 'node:path';
import { directoryNameProblem, keyProblem, type PayloadRef } from '../checkpoint/source.ts';
import type { MetaName } from './store.ts';

/** Name of our manifest in a checkpoint. No data key can start with `..`. */
export const manifestName = '..manifest.json';

export interface Layout {
  /** D, the dynamic config directory. */
  root: string;
  /** Default path of the effective file (`--effective-config`). */
  effective: string;
  /** Held by the agent of this store while it runs. */
  agentLock: string;
  store: string;
  /** Held for one change. */
  storeLock: string;
  journal: string;
  metaDir: string;
  meta(name: MetaName): string;
  trial: string;
  condemned: string;
  /** The config that preflight rejects now; see RefusedRecord. */
  refused: string;
  /** The last known version of the kubelet; see host/kubelet.ts. */
  kubeletVersion: string;
  /** The config that is active, by the agent's last knowledge; see active-record.ts. */
  active: string;
  /** Boot id of the boot that ended with a clean stop; see run/shutdown.ts. */
  cleanStop: string;
  /** The last transition whose event was sent; see events/announcer.ts. */
  announced: string;
  /** When the agent corrected the effective file, as the policy asks; see drift/plan.ts. */
  drift: string;
  checkpoints: string;
  /** `checkpoints/UID`. @throws RangeError on a uid that cannot be a directory name; callers check first */
  uidDir(uid: string): string;
  /** `checkpoints/UID/RV`. @throws RangeError as {@link Layout.uidDir} */
  checkpoint(ref: PayloadRef): string;
  manifest(ref: PayloadRef): string;
  /** `checkpoints/UID/RV/KEY`. @throws RangeError on a key that cannot be a file name */
  file(ref: PayloadRef, key: string): string;
}

/**
 * All paths under the dynamic config directory, for agent, command line and tests: no other code joins them.
 * @param root - D, absolute
 * @see docs/store-format.md
 */
export function layout(root: string): Layout {
  const store = join(root, 'store');
  const metaDir = join(store, 'meta');
  const checkpoints = join(store, 'checkpoints');
  const uidDir = (uid: string) => join(checkpoints, trusted(directoryNameProblem('UID', uid), uid));
  const checkpoint = ({ uid, resourceVersion }: PayloadRef) =>
    join(uidDir(uid), trusted(directoryNameProblem('ResourceVersion', resourceVersion), resourceVersion));
  return {
    root,
    effective: join(root, 'kubelet.yaml'),
    agentLock: join(root, 'agent.lock'),
    store,
    storeLock: join(root, 'store.lock'),
    journal: join(store, 'journal.jsonl'),
    metaDir,
    meta: (name) => join(metaDir, name),
    trial: join(metaDir, 'trial.json'),
    condemned: join(metaDir, 'condemned.json'),
    refused: join(metaDir, 'refused.json'),
    kubeletVersion: join(root, 'kubelet-version.json'),
    active: join(metaDir, 'active.json'),
    announced: join(root, 'announced.json'),
    drift: join(root, 'drift.json'),
    cleanStop: join(root, 'clean-stop.json'),
    checkpoints,
    uidDir,
    checkpoint,
    manifest: (ref) => join(checkpoint(ref), manifestName),
    file: (ref, key) => join(checkpoint(ref), trusted(keyProblem(key), key)),
  };
}

/** `PATH.damaged-20260131T235959.123Z`: sorts by time, and no other name in the store contains `.damaged-`. */
export function damagedName(path: string, nowMs: number): string {
  return `${path}.damaged-${new Date(nowMs).toISOString().replaceAll(/[-:]/g, '')}`;
}

/** `active.json` in memory, beside the exits file. Exists only while the disk is not writable, and takes precedence then. */
export function volatileActive(kubeletExits: string): string {
  return join(dirname(kubeletExits), 'active.json');
}

/** `PATH.drifted`: copy of an effective file that another program changed, kept when the agent overwrites it. The next copy replaces this one. */
export function driftedName(path: string): string {
  return `${path}.drifted`;
}

/** The last line of defense: a name that callers did not check must not lead out of the store. */
function trusted(problem: string | undefined, name: string): string {
  if (problem !== undefined) throw new RangeError(problem);
  return name;
}
