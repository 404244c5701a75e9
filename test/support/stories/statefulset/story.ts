import type { Stage } from './stage.ts';

/** What an admin does to sets, and what he waits for. Both controllers are put through it, and what is left is compared. */
export interface Story {
  /** Of its namespace and nodes too. */
  name: string;
  /** In which order pods come and go is left to chance; how often each does is not. */
  anyOrder?: true;
  /** So much fails again and again that of what is told later something is held back, by chance what. */
  manyFailures?: true;
  play(s: Stage): Promise<void>;
}
