import { linesOf } from '../remains.ts';
import type { Remains } from '../remains.ts';

const HASH = 'controller-revision-hash';

/**
 * What a story of DaemonSets left behind, without the random end of names. Revisions are called by letters, in the order of their content.
 * @param anyNode - it is left to chance which node is first: they are all called `node`
 */
export function daemonSetLines(remains: Remains, story: string, anyNode: boolean): string[] {
  return linesOf('DaemonSet', remains, {
    plain: renaming(remains, story, anyNode),
    podName: ({ metadata, spec }) => `${metadata.name} on ${spec?.nodeName ?? 'none'}`,
    // A pod that ends may be deleted more than once.
    counted: / SuccessfulCreate /,
  });
}

function renaming(
  { sets, revisions, pods }: Pick<Remains, 'sets' | 'revisions' | 'pods'>,
  story: string,
  anyNode: boolean,
): (text: string) => string {
  const byContent = revisions.toSorted((a, b) => (stable(a.data) < stable(b.data) ? -1 : 1));
  const ends = byContent.flatMap(({ metadata: { name = '' } }) => name.split('-').at(-1) ?? []);
  const hashes = [...new Set([...ends, ...pods.flatMap(({ metadata }) => metadata.labels?.[HASH] ?? [])])];
  const letters = hashes.filter((hash) => hash.length > 5).map((hash, n) => [hash, `<${String.fromCodePoint(65 + n)}>`] as const);
  // Of a long name, generated ones keep only the beginning.
  const long = sets.flatMap(({ metadata: { name = '' } }) =>
    name.length < 58 ? [] : [new RegExp(`\\b(${name.slice(0, 58)})\\w{5}\\b`, 'g')],
  );
  return (text) => {
    for (const pattern of long) text = text.replace(pattern, '$1*');
    for (const [hash, letter] of letters) text = text.replaceAll(hash, letter);
    text = text.replace(/\b([a-z]+-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, '$1*');
    return anyNode ? text.replaceAll(new RegExp(`\\b${story}-\\d+\\b`, 'g'), 'node') : text;
  };
}

/** JSON with sorted keys and without nulls. */
function stable(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(
          Object.entries(part)
            .filter(([, one]) => one !== null)
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
      : part,
  );
}
