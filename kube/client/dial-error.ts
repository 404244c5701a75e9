/** No connection came about: refused, no route, no trust, or no answer in time. */
export class DialError extends Error {
  override name = 'DialError';
}
