import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { NAMESPACE, signedMessage } from '../../agent/config/signature/check.ts';
import { wireString } from '../../agent/config/signature/public-key.ts';
import { filesOf } from './builders.ts';

const curves: Readonly<Record<string, { curve: string; hash: string }>> = {
  nistp256: { curve: 'P-256', hash: 'sha256' },
  nistp384: { curve: 'P-384', hash: 'sha384' },
  nistp521: { curve: 'P-521', hash: 'sha512' },
};

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const b64 = (text: string | undefined): Buffer => Buffer.from(text ?? '', 'base64url');

/** PKCS #8 of an Ed25519 key is this, and 32 bytes. */
const ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex');

function fixedPair(seed: string): { privateKey: KeyObject; publicKey: KeyObject } {
  const privateKey = createPrivateKey({ key: Buffer.concat([ED25519, sha256(Buffer.from(seed))]), format: 'der', type: 'pkcs8' });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

/** An SSH `mpint` of a number that is not negative. */
function mpint(bytes: Buffer): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const short = start < 0 ? Buffer.alloc(0) : bytes.subarray(start);
  return wireString((short[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.of(0), short]) : short);
}

/** Parts of a signature that a test may get wrong on purpose. */
export interface Parts {
  magic?: string;
  version?: number;
  namespace?: string;
  hash?: string;
  algorithm?: string;
  /** Of FIDO keys. */
  flags?: number;
  trailing?: Buffer;
}

/** A key pair as OpenSSH has it, and signatures as ssh-keygen makes them, both of node:crypto: for machines without ssh-keygen, and for wrong ones. */
export class SshSigner {
  readonly type: string;
  readonly name: string;
  readonly blob: Buffer;
  readonly #secret: KeyObject;

  /** @param type - as in a .pub file; @param bits - of RSA; @param seed - Ed25519 alone: makes the same key, and the same signatures, each time */
  constructor(type = 'ssh-ed25519', name = 'ci@example.com', { bits = 2048, seed }: { bits?: number; seed?: string } = {}) {
    this.type = type;
    this.name = name;
    const curve = Object.keys(curves).find((one) => type.includes(one));
    const pair =
      seed !== undefined
        ? fixedPair(seed)
        : type === 'ssh-rsa'
          ? generateKeyPairSync('rsa', { modulusLength: bits })
          : curve === undefined
            ? generateKeyPairSync('ed25519')
            : generateKeyPairSync('ec', { namedCurve: curves[curve]?.curve ?? '' });
    this.#secret = pair.privateKey;
    const jwk = pair.publicKey.export({ format: 'jwk' });
    const body =
      type === 'ssh-rsa'
        ? [mpint(b64(jwk.e)), mpint(b64(jwk.n))]
        : curve === undefined
          ? [wireString(b64(jwk.x))]
          : [wireString(curve), wireString(Buffer.concat([Buffer.of(4), b64(jwk.x), b64(jwk.y)]))];
    this.blob = Buffer.concat([wireString(type), ...body, ...(type.startsWith('sk-') ? [wireString('ssh:')] : [])]);
  }

  get line(): string {
    return `${this.type} ${this.blob.toString('base64')} ${this.name}`;
  }

  sign(message: string | Uint8Array, parts: Parts = {}): string {
    const { magic = 'SSHSIG', version = 1, namespace = NAMESPACE, hash = 'sha512', trailing = Buffer.alloc(0) } = parts;
    const digest = createHash(hash).update(message).digest();
    const signed = Buffer.concat([Buffer.from('SSHSIG'), wireString(namespace), wireString(''), wireString(hash), wireString(digest)]);
    const number = Buffer.alloc(4);
    number.writeUInt32BE(version);
    const head = [Buffer.from(magic), number, wireString(this.blob), wireString(namespace), wireString(''), wireString(hash)];
    const bytes = Buffer.concat([...head, wireString(this.#signature(signed, parts)), trailing]);
    const lines = bytes.toString('base64').match(/.{1,70}/g) ?? [];
    return ['-----BEGIN SSH SIGNATURE-----', ...lines, '-----END SSH SIGNATURE-----', ''].join('\n');
  }

  #signature(signed: Buffer, { flags = 1, ...parts }: Parts): Buffer {
    const isFido = this.type.startsWith('sk-');
    const tail = isFido ? Buffer.from([flags, 0, 0, 0, 7]) : Buffer.alloc(0);
    const data = isFido ? Buffer.concat([sha256(Buffer.from('ssh:')), tail, sha256(signed)]) : signed;
    const algorithm = parts.algorithm ?? (this.type === 'ssh-rsa' ? 'rsa-sha2-512' : this.type);
    return Buffer.concat([wireString(algorithm), wireString(this.#raw(data, algorithm)), tail]);
  }

  #raw(data: Buffer, algorithm: string): Buffer {
    if (this.type === 'ssh-rsa') return sign({ 'rsa-sha2-256': 'sha256', 'ssh-rsa': 'sha1' }[algorithm] ?? 'sha512', data, this.#secret);
    const curve = Object.keys(curves).find((one) => this.type.includes(one));
    if (curve === undefined) return sign(null, data, this.#secret);
    const both = sign(curves[curve]?.hash, data, { key: this.#secret, dsaEncoding: 'ieee-p1363' });
    return Buffer.concat([mpint(both.subarray(0, both.length / 2)), mpint(both.subarray(both.length / 2))]);
  }

  /** `files` with their signature as kubelet.sig. */
  signed(
    files: Readonly<Record<string, string>>,
    { key = 'kubelet', allow }: { key?: string; allow?: string } = {},
  ): Record<string, string> {
    return { ...files, 'kubelet.sig': this.sign(signedMessage({ files: filesOf(files), kubeletConfigKey: key, allow })) };
  }

  static policy(...signers: readonly SshSigner[]): string {
    const keys = signers.map(({ line }) => `  - ${line}\n`).join('');
    return `apiVersion: dkc.dev/v1alpha1\nkind: FieldPolicy\nallow: [safe, needs-drain, dangerous, node-specific]\nsignatureKeys:\n${keys}`;
  }
}
