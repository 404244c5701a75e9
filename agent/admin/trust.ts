import { recorded, type AdminFacts } from './facts.ts';
import { condemnationUnder } from './roles.ts';
import type { ContentRef } from '../checkpoint/payload.ts';
import type { PayloadRef, Source } from '../checkpoint/source.ts';
import { contentRef, sameContent } from '../store/content.ts';
import type { CheckpointEntry } from '../store/store.ts';

/** Trusted configs that a rollback looks at, newest first: a journal may name a thousand. */
const MAX_EARLIER = 10;

/**
 * Whether this node has trusted the content: it is last-known-good, or the journal has its promotion, and no trial that condemned it after that.
 * What an admin rolled back was trusted all the same.
 */
export function wasTrusted(content: ContentRef, facts: AdminFacts): boolean {
  const contents = contentsOf(facts);
  const trusted = recorded(facts.lastKnownGood);
  if (trusted && isSame(contents(trusted), content)) return true;
  for (const { event, source } of facts.journal.toReversed()) {
    if ((event !== 'promoted' && event !== 'condemned') || !source || !isSame(contents(source), content)) continue;
    return event === 'promoted';
  }
  return false;
}

/**
 * What this node trusted before `content`, newest first, as far as it is in the store and not condemned. Where the assignment was cleared in between,
 * the local config was before it: there the way back ends.
 */
export function trustedBefore(content: ContentRef, facts: AdminFacts): Source[] {
  const contents = contentsOf(facts);
  const entries = entriesOf(facts);
  const found: { source: Source; content: ContentRef }[] = [];
  const consider = (source: Source): void => {
    const its = contents(source);
    const entry = entries.get(nameOf(source));
    if (!its || entry?.state !== 'intact' || sameContent(its, content) || found.some((one) => sameContent(one.content, its))) return;
    if (!condemnationUnder(entry, source.kubeletConfigKey, facts.condemned) && wasTrusted(its, facts)) found.push({ source, content: its });
  };
  const trusted = recorded(facts.lastKnownGood);
  if (trusted) consider(trusted);
  for (const { event, source } of facts.journal.toReversed()) {
    if (event === 'reset' || found.length === MAX_EARLIER) break;
    if (event === 'promoted' && source) consider(source);
  }
  return found.map(({ source }) => source);
}

const nameOf = ({ uid, resourceVersion }: PayloadRef): string => `${uid}/${resourceVersion}`;

const entriesOf = (facts: AdminFacts): ReadonlyMap<string, CheckpointEntry> =>
  new Map(facts.entries.map((entry) => [nameOf(entry.ref), entry]));

/** The content behind a source; undefined where its checkpoint is gone from the store. */
function contentsOf(facts: AdminFacts): (source: Source) => ContentRef | undefined {
  const entries = entriesOf(facts);
  const known = new Map<string, ContentRef | undefined>();
  return (source) => {
    const name = `${nameOf(source)} ${source.kubeletConfigKey}`;
    if (!known.has(name)) {
      const manifest = entries.get(nameOf(source))?.manifest;
      known.set(name, manifest && contentRef(manifest.files, source.kubeletConfigKey));
    }
    return known.get(name);
  };
}

const isSame = (a: ContentRef | undefined, b: ContentRef): boolean => a !== undefined && sameContent(a, b);
