import type { PodSpec } from 'kubernetes-types/core/v1.js';

const MIB = 1024 * 1024;
const MIN_BYTES = 23 * MIB;
const MAX_BYTES_EACH = 1_000 * MIB;

/** The images of a pod's containers by the names that nodes know them by, init containers first. */
export function imageNames({ containers, initContainers }: Readonly<PodSpec>): string[] {
  return [...(initContainers ?? []), ...containers].map(({ image }) => normalized(image ?? ''));
}

/**
 * Points for images that are on the node already, 0 to `max`. An image that few nodes have counts less, so that a new image does not gather all its pods on the
 * node that had it first.
 * @param having - how many nodes have an image
 * @param nodes - how many there are
 */
export function imageScore(
  names: readonly string[],
  onNode: ReadonlyMap<string, number>,
  having: (name: string) => number,
  nodes: number,
  max: number,
): number {
  let sum = 0;
  for (const name of names) {
    const bytes = onNode.get(name);
    if (bytes !== undefined) sum += Math.trunc(bytes * (having(name) / nodes));
  }
  const most = MAX_BYTES_EACH * names.length;
  const within = Math.min(Math.max(sum, MIN_BYTES), most);
  return most === MIN_BYTES ? 0 : Math.trunc((max * (within - MIN_BYTES)) / (most - MIN_BYTES));
}

function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
