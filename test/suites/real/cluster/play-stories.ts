import { readFile } from 'node:fs/promises';
import type { Subject } from './subject.ts';
import type { World } from '../../../support/stories/world.ts';

export interface Played {
  /** What each story left behind, by its name; a story that failed says so in its lines. */
  left: Map<string, string[]>;
  /** The end of the subject's log. */
  log: string;
  /** Lines of its log about what it has no right to do. */
  denied: string[];
}

/** Of a line of a log: what its process has no right to do. */
export const DENIED = /missing rights|cannot \w+ resource|cannot set (?:blockOwnerDeletion|an ownerRef)/;

/**
 * Plays all stories to one subject in one world, and ends both.
 * @param atOnce - stories under way at once: most of a story is waiting
 * @param play - returns what the story left behind
 */
export async function playStories<S extends { name: string }>(
  world: World,
  start: () => Promise<Subject>,
  { stories, atOnce, play }: { stories: readonly S[]; atOnce: number; play: (world: World, story: S) => Promise<string[]> },
): Promise<Played> {
  try {
    await using running = await start();
    const left = new Map<string, string[]>();
    const rest = stories.values();
    const work = async (): Promise<void> => {
      for (const story of rest) left.set(story.name, await play(world, story));
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    const lines = (await readFile(running.logFile, 'utf8')).split('\n');
    return { left, log: await running.log(), denied: lines.filter((line) => DENIED.test(line)) };
  } finally {
    await world.stop();
  }
}
