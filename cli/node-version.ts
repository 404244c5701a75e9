const OLDEST = 24;

/**
 * Older ones lack what is used everywhere, and each lack looks like something else: an API server that went away, for one.
 * @param version - as `process.versions.node` has it
 * @returns what to do about it; undefined: it will do
 */
export function nodeProblem(version: string): string | undefined {
  if (Number(/^\d+/.exec(version)) >= OLDEST) return undefined;
  return `Node.js ${OLDEST} or newer is required, but this is ${version}; run it with another one, such as /usr/lib/dkc/node dkc.js`;
}
