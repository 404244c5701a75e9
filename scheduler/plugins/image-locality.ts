import type { PodSpec } from 'kubernetes-types/core/v1.js';

const MIB = 1024 * 1024;

const MIN_BYTES = 23 * MIB;

const MAX_BYTES_EACH = 1_000 * MIB;

/** Image volumes, which the type package lacks. */
interface ImageVolume {
  readonly name: string;
  readonly image?: { readonly reference?: string };
}

/** The images of a pod by the names that nodes report: of init containers, of containers, and of volumes (as from 1.36 on). */
export function imageNames({ containers, initContainers, volumes }: Readonly<PodSpec>): string[] {
  const ofContainers = [...(initContainers ?? []), ...containers].map(({ image }) => image);
  const ofVolumes = ((volumes ?? []) as readonly ImageVolume[]).flatMap(({ image }) => image?.reference ?? []);
  return [...ofContainers, ...ofVolumes].map((image) => normalized(image ?? ''));
}

/** Number of images of containers: only these count for the upper limit of the score. */
export function imagesOfContainers({ containers, initContainers }: Readonly<PodSpec>): number {
  return containers.length + (initContainers?.length ?? 0);
}

/**
 * Points for images that are on the node already, 0 to `max`. An image that few nodes have counts less, so that a new image does not gather all its pods on the
 * node that had it first.
 * @param containers - result of {@link imagesOfContainers}
 * @param having - how many nodes have an image
 * @param nodes - number of nodes
 */
export function imageScore(
  names: readonly string[],
  containers: number,
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
  const most = MAX_BYTES_EACH * containers;
  const within = Math.min(Math.max(sum, MIN_BYTES), most);
  return most === MIN_BYTES ? 0 : Math.trunc((max * (within - MIN_BYTES)) / (most - MIN_BYTES));
}

function normalized(image: string): string {
  return image.lastIndexOf(':') <= image.lastIndexOf('/') ? `${image}:latest` : image;
}
