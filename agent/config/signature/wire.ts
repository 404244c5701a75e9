/** Why a signature or a public key is not accepted. The message goes on after its subject: `it ends too early`. */
export class SignatureError extends Error {
  override name = 'SignatureError';
}

/** Reads the data types of RFC 4251, section 5. Every read that goes past the end is a {@link SignatureError}; nothing is copied. */
export class WireReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  bytes(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw new SignatureError('it ends too early');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  byte(): number {
    return this.bytes(1).readUInt8();
  }

  uint32(): number {
    return this.bytes(4).readUInt32BE();
  }

  /** A `string`: its length and so many bytes. */
  string(): Buffer {
    return this.bytes(this.uint32());
  }

  /** A `string` of visible ASCII characters, as names are. */
  name(): string {
    const text = this.string().toString('latin1');
    if (!/^[!-~]*$/.test(text)) throw new SignatureError('a name in it has characters other than visible ASCII');
    return text;
  }

  /** An `mpint` that is positive, without the zero byte before its highest bit. */
  positive(): Buffer {
    const number = this.string();
    const [first = 0, second = 0] = number;
    const isPadded = first === 0 && second >= 0x80;
    if (first >= 0x80 || (first === 0 && !isPadded))
      throw new SignatureError('a number in it is not positive, or not in its shortest form');
    return isPadded ? number.subarray(1) : number;
  }

  /** @throws {@link SignatureError} where something is left */
  end(): void {
    if (this.#at !== this.#bytes.length) throw new SignatureError('it has more bytes than belong to it');
  }
}

/** A `string` of RFC 4251 as bytes. */
export function wireString(bytes: Uint8Array | string): Buffer {
  const content = Buffer.from(bytes);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Strict base64: padded, no other characters, no bits that decode to nothing. */
export function fromBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.toString('base64') !== text) throw new SignatureError('it is not base64');
  return bytes;
}
