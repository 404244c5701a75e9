import type { Rejection } from '../plugins/rejection.ts';
import type { PodInfo } from '../pod/pod-info.ts';
import type { Attachment, StorageView, VolumeNeeds, VolumeNode } from './contract.ts';
import { attachmentOf } from './needs.ts';
import { podVolumesOf } from './pod-volumes.ts';

const TOO_MANY: Rejection = { plugin: 'NodeVolumeLimits', resolvable: true, reasons: ['node(s) exceed max volume count'] };

/** Of each driver, a node takes as many volumes as its CSINode says; one that several pods use is one. */
export function filterLimits({ pod, attachments }: VolumeNeeds, on: VolumeNode, view: StorageView): Rejection | undefined {
  if (attachments.length === 0) return undefined;
  // A driver is told of once on a node.
  for (const { name, allocatable } of view.csiNode(on.node.metadata.name ?? '')?.spec?.drivers ?? []) {
    const most = allocatable?.count;
    if (most !== undefined && isTooMany(attachments, name, most, pod, on.pods, view)) return TOO_MANY;
  }
  return undefined;
}

function isTooMany(
  wanted: readonly Attachment[],
  driver: string,
  most: number,
  pod: PodInfo,
  pods: readonly PodInfo[],
  view: StorageView,
): boolean {
  const added = new Set<string>();
  for (const attachment of wanted) if (attachment.driver === driver) added.add(attachment.handle);
  if (added.size === 0) return false;
  // Mostly there is room even if every claim were a volume of this driver: to find out which ones are costs much more.
  let claims = 0;
  for (const other of pods) claims += podVolumesOf(other).claims.length;
  if (claims + added.size <= most) return false;
  const there = new Set<string>();
  for (const other of pods) if (other.key !== pod.key) addAttached(there, other, driver, view);
  for (const handle of there) added.delete(handle);
  // A node that has too many already still takes pods that add none.
  return added.size > 0 && there.size + added.size > most;
}

function addAttached(there: Set<string>, pod: PodInfo, driver: string, view: StorageView): void {
  for (const { name } of podVolumesOf(pod).claims) {
    const claim = view.claim(pod.namespace, name);
    const attachment = claim && attachmentOf(claim, view);
    if (attachment?.driver === driver) there.add(attachment.handle);
  }
}
