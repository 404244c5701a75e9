const OLDEST = 24;

/**
 * Older ones lack what is used everywhere, and each lack looks like something else: an API server that went away, for one.
 * @param version - as `process.versions.node` has it
 * @returns what to do about it; undefined: it will do
 */
export function nodeProblem(version: string): string | undefined {
  if (Number(/^\d+/.exec(version)) >= OLDEST) return undefined;
  return `this is Node ${version}, and it needs ${OLDEST} or newer: start it by that one, such as /usr/lib/dkc/node dkc.js`;
}
