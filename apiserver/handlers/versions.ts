import { badRequest, resourceVersionTooLarge } from '../status-error.ts';

/** A resourceVersion of a query. @returns undefined when absent @throws StatusError 400 for what is no number */
export function versionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion');
  if (text === null || text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid resource version ${JSON.stringify(text)}: it must be a whole number`);
  return Number(text);
}

/** A number of the query, 0 when absent. @throws StatusError 400 */
export function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name);
  if (text === null || text === '') return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`invalid value ${JSON.stringify(text)} of ${name}: it must be a whole number`);
  return Number(text);
}

/** @throws StatusError 504 for a version the server has not reached */
export function checkReached(version: number | undefined, current: number): void {
  if (version !== undefined && version > current) throw resourceVersionTooLarge(version, current);
}
