/** Size of a run, from an environment variable: an integer from 1. @throws RangeError for anything else */
export function numberOf(env: Readonly<Record<string, string | undefined>>, name: string, usual: number): number {
  const text = env[name];
  if (text === undefined || text === '') return usual;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} is ${text}, which is no whole number from 1`);
  return value;
}
