import { rfc3339, type Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import type { Registry } from '../kinds/registry.ts';
import type { RuleContext } from '../kinds/kind.ts';
import type { Storage } from '../storage/storage.ts';

/** What every handler works with. */
export interface Context {
  storage: Storage;
  registry: Registry;
  clock: Clock;
  random: Random;
  dynamicKubeletConfig: boolean;
  /** Time between bookmarks of a watch that asked for them, in ms. */
  bookmarkMs: number;
}

export function rules(context: Context, subresource: string): RuleContext {
  const { clock, registry, storage, dynamicKubeletConfig } = context;
  return { now: rfc3339(clock.now()), dynamicKubeletConfig, subresource, release: registry.release, stored: storage };
}

/** A version 4 UUID from the server's own source of chance. */
export function newUid(random: Random): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(random() * 16));
  digits[12] = 4;
  digits[16] = ((digits[16] ?? 0) & 3) | 8;
  const hex = digits.map((digit) => digit.toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

// No vowels and nothing that looks like something else, as the real server picks them.
const SUFFIX_LETTERS = 'bcdfghjklmnpqrstvwxz2456789';

/** `base` and five letters, at most 63 in all. */
export function generateName(base: string, random: Random): string {
  const suffix = Array.from({ length: 5 }, () => SUFFIX_LETTERS[Math.floor(random() * SUFFIX_LETTERS.length)] ?? 'x').join('');
  return base.slice(0, 63 - suffix.length) + suffix;
}
