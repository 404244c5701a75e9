/** Reads /proc/net/tcp and /proc/net/tcp6. Pure. */
import { canonical } from '../config/preflight/server.ts';

export interface Listener {
  address: string;
  port: number;
}

/** State of a socket that listens, as the kernel prints it. */
const LISTEN = '0A';
const LINE = /^\s*\d+: ([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) \S+ ([0-9A-F]{2}) (?:\S+\s+\S+\s+\S+\s+\d+\s+\d+\s+(\d+))?/;
/** Lines that are looked at: a busy host has some thousand connections. */
const MAX_LINES = 200_000;

/** Sockets that listen, of either table; a line of another form is passed over. */
export function listeners(table: string): Listener[] {
  return listeningSockets(table).map(({ address, port }) => ({ address, port }));
}

/** The same, each with the number by which a process has it open: its `/proc/PID/fd/N` says `socket:[INODE]`. '' where the line ends before. */
export function listeningSockets(table: string): (Listener & { inode: string })[] {
  const found: (Listener & { inode: string })[] = [];
  for (const line of table.split('\n', MAX_LINES)) {
    const [, address = '', port = '', state, inode = ''] = LINE.exec(line) ?? [];
    if (state === LISTEN) found.push({ address: addressOf(address), port: Number.parseInt(port, 16), inode });
  }
  return found;
}

/** Words of 4 bytes, each with its lowest byte first. */
function addressOf(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) => (word.match(/../g) ?? []).toReversed());
  if (bytes.length === 4) return bytes.map((byte) => Number.parseInt(byte, 16)).join('.');
  const mapped = bytes.slice(0, 12).join('') === '00000000000000000000ffff'.toUpperCase();
  if (mapped) return bytes.slice(12).map((byte) => Number.parseInt(byte, 16)).join('.'); // prettier-ignore
  return canonical((bytes.join('').match(/.{4}/g) ?? []).join(':'));
}
