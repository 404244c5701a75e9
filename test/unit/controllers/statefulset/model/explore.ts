import { Broken, moves, type Model } from './moves.ts';
import { inWords, type State } from './state.ts';

export interface Explored {
  states: number;
  moves: number;
  /** The shortest way to a broken promise, one line for each step; undefined: none is ever broken. */
  broken: string[] | undefined;
}

/** Visits every state that can be reached from an empty world, nearest first. @param check - looks at each. @throws {Broken} */
export function explore(model: Model, check: (state: State) => void, limit = Infinity): Explored {
  const { layout } = model;
  const first = layout.empty();
  const states: (State | undefined)[] = [first];
  const from = [0];
  const how = [''];
  const visited = new Set([keyOf(first)]);
  let [count, at] = [0, 0];
  const wayTo = (index: number, last: string[]): string[] => {
    const steps = [...last];
    for (let step = index; step !== 0; step = from[step] ?? 0) steps.unshift(how[step] ?? '');
    return steps;
  };
  try {
    for (; at < states.length && at < limit; at++) {
      const state = states[at];
      if (state === undefined) continue;
      // Behind the front nobody needs it any more.
      states[at] = undefined;
      moves(model, state, (what, ordinal, change) => {
        count++;
        const next = state.slice();
        try {
          change(next);
          layout.rename(next);
          const key = keyOf(next);
          if (visited.has(key)) return;
          visited.add(key);
          check(next);
        } catch (error) {
          if (!(error instanceof Broken)) throw error;
          throw new Found(wayTo(at, [`${what} ${ordinal}`, `in: ${inWords(layout, state)}`, error.message]));
        }
        states.push(next);
        from.push(at);
        how.push(`${what} ${ordinal}`);
      });
    }
  } catch (error) {
    if (error instanceof Found) return { states: visited.size, moves: count, broken: error.steps };
    throw error;
  }
  return { states: visited.size, moves: count, broken: undefined };
}

/** Five numbers, each below eight, to a character. */
function keyOf(state: State): string {
  let key = '';
  for (let at = 0; at < state.length; at += 5) {
    let five = 0;
    for (let bit = 0; bit < 5; bit++) five = five * 8 + (state[at + bit] ?? 0);
    key += String.fromCharCode(five);
  }
  return key;
}

class Found extends Error {
  readonly steps: string[];
  constructor(steps: string[]) {
    super('found');
    this.steps = steps;
  }
}
