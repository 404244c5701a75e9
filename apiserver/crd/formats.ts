import { isIP, isIPv4, isIPv6 } from 'node:net';

/** The formats of texts that a 1.20 server checks; it takes any text for others. */
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i.test(text) && !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  duration: (text) =>
    /^[+-]?(0|(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h|d|w)(?:(\d+(\.\d*)?|\.\d+)(ns|us|\u00b5s|ms|s|m|h|d|w))*)$/.test(text),
  byte: (text) => /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => text.length <= 255 && text.split('.').every((label) => /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: (text) => {
    const [, address = '', bits = ''] = /^(.+)\/(\d{1,3})$/.exec(text) ?? [];
    const version = isIP(address);
    return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128);
  },
  mac: (text) => /^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$/.test(text),
  uri: (text) => text !== '' && (URL.canParse(text) || text.startsWith('/')),
  uuid: (text) => /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i.test(text),
  hexcolor: (text) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text),
};

/** Whether a text is of a format; any text is of one that is not known. */
export function isOfFormat(text: string, format: string): boolean {
  return Object.hasOwn(formats, format) ? formats[format]?.(text) === true : true;
}
