import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RealPartsUnavailable } from '../../support/real-parts/real-kubelet.ts';
import { builtRelease, givenRelease, isFailure } from '../../support/real-parts/release.ts';
import type { Release } from '../../support/real-parts/release.ts';
import { whyNoMachine } from '../systemd/machine.ts';

/**
 * Tests on a machine with a real kubelet. Where there can be none they are skipped, with the reason; with CI=true that is a failure.
 * The first ever builds the kubelet, for minutes.
 * @param parts - what else is needed of `test/support/real-parts`
 */
export async function onRealNodes(name: string, define: () => void, parts: readonly string[] = []): Promise<void> {
  orSkip((await whyNoMachine()) ?? (await whyNoParts(['kubelet', ...parts])), name, define);
}

/** Tests with programs of a release and without a machine, such as a control plane; else as {@link onRealNodes}. */
export async function withRealParts(name: string, parts: readonly string[], define: () => void, release = builtRelease): Promise<void> {
  orSkip(await whyNoParts(parts, release), name, define);
}

/**
 * As {@link onRealNodes}, with programs of the release that DKC_REAL_KUBERNETES names.
 * @param findOthers - throws RealPartsUnavailable where something else is missing
 */
export async function onReleaseNodes(
  name: string,
  parts: readonly string[],
  define: () => void,
  findOthers: () => void = () => {},
): Promise<void> {
  orSkip((await whyNoMachine()) ?? (await whyNoParts(parts, await givenRelease())) ?? (await whyWithout(findOthers)), name, define);
}

/** Tests with programs of the release that DKC_REAL_KUBERNETES names, as root; else as {@link onRealNodes}. */
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

/** Of a machine with a real API server and the client that goes with it. */
export const onlineParts = ['etcd', 'kube-apiserver', 'kubectl'];
