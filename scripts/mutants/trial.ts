import type { Fault } from './faults.ts';
import { plant } from './faults.ts';
import type { Reach } from './reach.ts';
import { runTests, type Run } from './run-tests.ts';
import type { Tree } from './tree.ts';

/** Result of one fault. `unreadable`: the pattern no longer matches the file. */
export interface Result extends Pick<Fault, 'id' | 'file' | 'effect'> {
  outcome: 'caught' | 'timeout' | 'survived' | 'unreadable';
  /** The test file and the failed test, or the error of the pattern. */
  by?: string;
  /** Number of test files that ran. */
  files: number;
  ms: number;
}

export interface TrialOptions {
  /** Also tests of other rooms. */
  everywhere: boolean;
  /** Maximum time without the end of a test, in ms. */
  silenceMs: number;
}

/** Number of files in the first run: few, since the nearest tests detect most faults. */
const FIRST = 3;
const NEXT = 12;

/** Plants one fault after the other into a separate tree, and runs the tests that reach it. */
export class Trials {
  readonly #tree: Tree;
  readonly #reach: Reach;
  readonly #options: TrialOptions;
  /** Whether a test file passes without any fault. */
  readonly #sound: Map<string, boolean>;

  /** @param sound - cache shared by the trials of several trees; this class fills it */
  constructor(tree: Tree, reach: Reach, options: TrialOptions, sound: Map<string, boolean>) {
    this.#tree = tree;
    this.#reach = reach;
    this.#options = options;
    this.#sound = sound;
  }

  async try(fault: Fault): Promise<Result> {
    const { id, file, effect } = fault;
    const began = performance.now();
    const tests = this.#reach.testsOf(file, this.#options.everywhere).filter((test) => this.#sound.get(test) !== false);
    const result = (outcome: Result['outcome'], by?: string): Result => {
      return {
        id,
        file,
        outcome,
        ...(by === undefined ? {} : { by }),
        files: tests.length,
        ms: Math.round(performance.now() - began),
        effect,
      };
    };
    let original: string;
    let planted: string;
    try {
      original = this.#tree.read(file);
      planted = plant(fault, original);
    } catch (error) {
      return result('unreadable', (error as Error).message);
    }
    const run = await this.#withFault(file, original, planted, tests);
    if (run.outcome === 'passed') return result('survived');
    if (run.file !== undefined && !(await this.#isSound(run.file))) return this.try(fault);
    return result(run.outcome === 'timeout' ? 'timeout' : 'caught', [run.file, run.test].filter((part) => part !== undefined).join(': '));
  }

  async #withFault(file: string, original: string, planted: string, tests: readonly string[]): Promise<Run> {
    this.#tree.write(file, planted);
    try {
      for (let at = 0; at < tests.length; at += at === 0 ? FIRST : NEXT) {
        const run = await this.#run(tests.slice(at, at + (at === 0 ? FIRST : NEXT)));
        if (run.outcome !== 'passed') return run;
      }
      return { outcome: 'passed' };
    } finally {
      this.#tree.write(file, original);
    }
  }

  /** Whether a test passes without a fault: otherwise its failure proves nothing. Runs each test once. */
  async #isSound(test: string): Promise<boolean> {
    const known = this.#sound.get(test);
    if (known !== undefined) return known;
    const sound = (await this.#run([test])).outcome === 'passed';
    this.#sound.set(test, sound);
    if (!sound) console.error(`${test} fails without any fault; it is left out`);
    return sound;
  }

  #run(tests: readonly string[]): Promise<Run> {
    return runTests(this.#tree.root, tests, this.#options.silenceMs);
  }
}
