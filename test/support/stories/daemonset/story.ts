import type { Stage } from './stage.ts';

/** What an admin does to sets, and what he waits for. Both controllers are put through it, and what is left is compared. */
export interface Story {
  /** Of its namespace and nodes too. */
  name: string;
  /** Which node is first is left to chance. */
  anyNode?: true;
  play(s: Stage): Promise<void>;
}
