const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const IPV6 = /^(?=.*::)(?!.*::.*::)(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}$|^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$/;

/** Longest way to write an IPv6 address. */
const MAX_ADDRESS_LENGTH = 45;

export function isAddress(text: string): boolean {
  return text.length <= MAX_ADDRESS_LENGTH && (IPV4.test(text) || IPV6.test(text));
}

/** Every address of the machine, in either family. */
export const isWildcard = (address: string): boolean => address === '0.0.0.0' || address === '::';

/** The one way to write it, so that two can be compared; as it is where it is no address. */
export function canonical(address: string): string {
  if (!address.includes(':') || !isAddress(address)) return address;
  const { hostname } = new URL(`http://[${address}]`);
  return hostname.slice(1, -1);
}
