import { Transform } from 'node:stream';

/*
 * A kubelet of this release sends the path of the runtime's socket as the HTTP/2 pseudo header :authority, and Node refuses an
 * authority with a slash in it (stream error, PROTOCOL_ERROR). So the slashes become dots before Node sees them. Slash and dot have
 * Huffman codes of the same length, and therefore the frame keeps its length.
 */

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length;
const frameHeader = 9;
const headersFrame = 1;

/** The Huffman codes of RFC 7541, appendix B: consecutive from `first`, in this order. Longer codes are for characters rare in paths. */
const codeTable = [
  { bits: 5, first: 0x00, characters: '012aceiost' },
  { bits: 6, first: 0x14, characters: ' %-./3456789=A_bdfghlmnpru' },
  { bits: 7, first: 0x5c, characters: ':BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz' },
  { bits: 8, first: 0xf8, characters: '&*,;XZ' },
];

/**
 * `text` in the Huffman code of HPACK, padded with ones to whole bytes.
 * @throws {Error} when `text` has a character whose code is longer than 8 bits
 */
function huffman(text: string): Buffer {
  let bits = '';
  for (const character of text) {
    const row = codeTable.find(({ characters }) => characters.includes(character));
    if (!row) throw new Error(`Cannot encode ${text}: choose a socket path of letters, digits and -._/ instead of ${character}`);
    bits += (row.first + row.characters.indexOf(character)).toString(2).padStart(row.bits, '0');
  }
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(bits.match(/.{8}/g)?.map((byte) => Number.parseInt(byte, 2)) ?? []);
}

/** `text` as Go writes it into a header block: its length, then Huffman code where that is shorter, else the plain bytes. */
function headerString(text: string): Buffer {
  const coded = huffman(text);
  return coded.length < text.length
    ? Buffer.from([0x80 | coded.length, ...coded])
    : Buffer.concat([Buffer.from([text.length]), Buffer.from(text)]);
}

/**
 * A stream for the bytes from a kubelet to the runtime's socket at `path`: replaces the path in every header block, as it is sent
 * again whenever it has left the compression table. Only a header frame is held back until it is whole, so no byte waits for ever.
 */
export function cureAuthority(path: string): Transform {
  const sick = headerString(path);
  const cured = headerString(path.replaceAll('/', '.'));
  let held = Buffer.alloc(0);
  let pass = preface; // bytes that go through unread

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      held = Buffer.concat([held, chunk]);
      for (;;) {
        const through = Math.min(pass, held.length);
        if (through > 0) this.push(held.subarray(0, through));
        held = held.subarray(through);
        pass -= through;
        if (pass > 0 || held.length < frameHeader) break;
        const frame = frameHeader + held.readUIntBE(0, 3);
        if (held[3] === headersFrame) {
          if (held.length < frame) break;
          const at = held.subarray(0, frame).indexOf(sick, frameHeader);
          if (at >= 0) cured.copy(held, at);
        }
        pass = frame;
      }
      done();
    },
  });
}
