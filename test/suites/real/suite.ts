import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RealPartsUnavailable } from '../../support/real-parts/real-kubelet.ts';
import { builtRelease, givenRelease, isFailure } from '../../support/real-parts/release.ts';
import type { Release } from '../../support/real-parts/release.ts';
import { whyNoMachine } from '../systemd/machine.ts';

/**
 * Tests on a machine with a kubelet and other programs of a release. Where there can be none they are skipped, with the reason; with CI=true that is a failure.
 * The first ever with 1.20.2 builds its programs, for minutes.
 * @param findOthers - throws RealPartsUnavailable where something else is missing
 */
export async function onNodes(
  name: string,
  parts: readonly string[],
  define: () => void,
  { release, findOthers = () => {} }: { release?: Release; findOthers?: () => void } = {},
): Promise<void> {
  const why = (await whyNoMachine()) ?? (await whyNoParts(parts, release ?? (await givenRelease()))) ?? (await whyWithout(findOthers));
  orSkip(why, name, define);
}

/** Tests with programs of a release and without a machine, such as a control plane; else as {@link onNodes}. */
export async function withRealParts(name: string, parts: readonly string[], define: () => void, release = builtRelease): Promise<void> {
  orSkip(await whyNoParts(parts, release), name, define);
}

/** {@link withRealParts}, with programs of another release. */
export const ofRelease = (release: Release, name: string, parts: readonly string[], define: () => void): Promise<void> =>
  withRealParts(name, parts, define, release);

/** Tests with programs of the release that DKC_REAL_KUBERNETES names, as root; else as {@link onNodes}. */
export async function withRelease(name: string, parts: readonly string[], define: () => void): Promise<void> {
  const why = process.getuid?.() === 0 ? await whyNoParts(parts, await givenRelease()) : 'a kubelet needs root';
  orSkip(why, name, define);
}

/** A suite, or where it cannot run a test that says so: skipped, and with CI=true a failure. */
export function orSkip(why: string | undefined, name: string, define: () => void): void {
  if (why === undefined) describe(name, define);
  else test(name, isFailure(why) ? {} : { skip: why }, () => assert.fail(why));
}

const whyNoParts = (parts: readonly string[], release: Release = builtRelease): Promise<string | undefined> =>
  whyWithout(() => release.programs(parts));

/** @param find - throws RealPartsUnavailable where this machine cannot have what it looks for */
async function whyWithout(find: () => unknown): Promise<string | undefined> {
  try {
    await find();
    return undefined;
  } catch (error) {
    if (error instanceof RealPartsUnavailable) return error.message;
    throw error;
  }
}
