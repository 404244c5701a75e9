import { isIPv4, isIPv6 } from 'node:net';
import { ActionError } from '../../base/errors.ts';

export interface BindAddress {
  /** '' listens everywhere. */
  host: string;
  port: number;
}

/**
 * Reads `HOST:PORT`, `[IPV6]:PORT` or `:PORT`. @returns undefined for '': off
 * @throws {ActionError} naming the flag
 */
export function parseBindAddress(text: string, flag = '--metrics-bind-address'): BindAddress | undefined {
  if (text === '') return undefined;
  const [, six, other = '', digits] = /^(?:\[([^\]]+)\]|([^:[\]/\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === undefined || port > 65_535 || (six !== undefined && !isIPv6(six))) {
    throw new ActionError('use', `${flag} ${JSON.stringify(text)}`, {
      hint: 'give HOST:PORT, such as 127.0.0.1:0, or an empty one to switch it off',
    });
  }
  return { host: six ?? other, port };
}

/** Whether only this machine can reach `host`. A name says no such thing, except for `localhost`. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIPv4(host) && host.startsWith('127.')) || (isIPv6(host) && /^(0*:)+0*1$/.test(host));
}

/** `http://HOST:PORT`, for people and scrapers on this machine. */
export function urlOf({ host, port }: BindAddress): string {
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
