import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

/** The files that a tree's tests reach: by imports, and by paths in strings, as in tests that start a program. */
export class Reach {
  readonly #root: string;
  readonly #tests: readonly string[];
  readonly #edges = new Map<string, readonly string[]>();

  /** @param root - directory of the tree */
  constructor(root: string) {
    this.#root = root;
    this.#tests = globSync(['test/unit/**/*.test.ts', 'test/suites/embedded/**/*.test.ts'], { cwd: root });
  }

  /**
   * Tests that reach `file`, those most likely to detect a fault first: the mirrored test, tests of its directory, of its room, then by distance in imports.
   * @param everywhere - also unit tests of other rooms
   */
  testsOf(file: string, everywhere: boolean): string[] {
    const room = file.split('/')[0] ?? '';
    const folder = join('test/unit', dirname(file));
    const mirror = join(folder, basename(file, '.ts'));
    const rank = (test: string): number =>
      [`${mirror}.`, `${mirror}-`, `${folder}/`, `test/unit/${room}/`, 'test/suites/'].findIndex((start) => test.startsWith(start));
    return this.#tests
      .map((test) => ({ test, rank: rank(test), distance: this.#distance(test, file) }))
      .filter(({ rank, distance }) => Number.isFinite(distance) && (everywhere || rank >= 0))
      .toSorted((a, b) => (a.rank < 0 ? 9 : a.rank) - (b.rank < 0 ? 9 : b.rank) || a.distance - b.distance)
      .map(({ test }) => test);
  }

  /** Number of imports between the two; Infinity: not reachable. */
  #distance(from: string, to: string): number {
    const seen = new Map([[from, 0]]);
    for (const [file, steps] of seen) {
      if (file === to) return steps;
      for (const next of this.#named(file)) if (!seen.has(next)) seen.set(next, steps + 1);
    }
    return Infinity;
  }

  #named(file: string): readonly string[] {
    const known = this.#edges.get(file);
    if (known) return known;
    const words = [...readFileSync(join(this.#root, file), 'utf8').matchAll(/['"`]([\w./-]+\.ts)['"`]/g)].map(([, word = '']) => word);
    const paths = words.flatMap((word) => [normalize(join(dirname(file), word)), normalize(word)]);
    const named = paths.filter((path) => !path.startsWith('..') && existsSync(join(this.#root, path)));
    this.#edges.set(file, named);
    return named;
  }
}
