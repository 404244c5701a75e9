/** What an admin does to sets, and what he waits for. Both controllers are put through it, and what is left is compared. */
export interface Story<S> extends Chance {
  /** Of its namespace and nodes too. */
  name: string;
  play(s: S): Promise<void>;
}

/** What is left to chance. */
export interface Chance {
  /** Which node is first. */
  anyNode?: true;
  /** In which order pods come and go; how often each does is not. */
  anyOrder?: true;
  /** What is told later of what fails again and again, and held back. */
  manyFailures?: true;
  /** Which of many events the limit for each object lets through. */
  manyEvents?: true;
}

export function story<S>(name: string, ...how: [Story<S>['play']] | [Chance, Story<S>['play']]): Story<S> {
  const [chance, play] = how.length === 1 ? [{}, how[0]] : how;
  return { name, ...chance, play };
}
