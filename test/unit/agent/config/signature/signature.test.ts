import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_SIGNATURE, parseSignatureKeys, signedMessage, verifyPayload } from '../../../../../agent/config/signature/check.ts';
import { KEY_TYPES, parseKeyLine } from '../../../../../agent/config/signature/public-key.ts';
import { filesOf } from '../../../../support/builders.ts';
import { type Parts, SshSigner } from '../../../../support/ssh-signing.ts';

const files = { kubelet: 'maxPods: 50\n', 'ca.crt': 'a certificate\n' };
const ci = new SshSigner();
const signers = new Map(KEY_TYPES.map((type) => [type, new SshSigner(type, `${type}-owner`)]));
const signer = (type: string): SshSigner => signers.get(type) ?? ci;

/** `signed by NAME`, or why not. */
function verdict(
  content: Readonly<Record<string, string>>,
  { key = 'kubelet', allow, keys = [ci] }: { key?: string; allow?: string; keys?: readonly SshSigner[] } = {},
): string {
  const known = parseSignatureKeys(keys.map(({ line }) => line));
  const found = verifyPayload({ files: filesOf(content), kubeletConfigKey: key, allow }, known);
  return found.ok ? `signed by ${found.signer.name}` : found.reason;
}

test('the message is what an admin makes of sha256sum', () => {
  const text = signedMessage({ files: filesOf({ ...files, 'kubelet.sig': 'x' }), kubeletConfigKey: 'kubelet', allow: ' b.c,a ,, b.c' });
  assert.equal(
    text,
    [
      'dkc-kubelet-config v1',
      'kubeletConfigKey kubelet',
      'allow a,b.c',
      // sha256sum kubelet ca.crt | LC_ALL=C sort
      '548d2246035bb5ba77c87910e2d26a75e060ff80de9ceac88d242c910a0e9b3d  kubelet',
      'f15424e481397dd54c332af1e6e866a74d2e9a6c9b29aefa8ee7a355fce1d57d  ca.crt',
      '',
    ].join('\n'),
  );
});

for (const type of KEY_TYPES)
  test(`a signature by a key of type ${type} is accepted, and says who signed`, () => {
    const keys = [new SshSigner('ssh-ed25519', 'somebody else'), signer(type)];
    assert.equal(verdict(signer(type).signed(files), { keys }), `signed by ${type}-owner`);
  });

type Row = { why: string; content: Record<string, string>; over?: Parameters<typeof verdict>[1]; says: RegExp };
const signed = ci.signed(files);
const allowed = ci.signed(files, { allow: 'cgroupDriver, port' });
const made = (parts: Parts, by = ci): Record<string, string> => ({
  ...files,
  'kubelet.sig': by.sign(signedMessage({ files: filesOf(files), kubeletConfigKey: 'kubelet', allow: undefined }), parts),
});
const sig = (text: string): Record<string, string> => ({ ...files, 'kubelet.sig': text });
const [fido, rsa] = [signer('sk-ssh-ed25519@openssh.com'), signer('ssh-rsa')];
const other = /^was made by ci@example.com, but not for the content of this ConfigMap/;

// prettier-ignore
const rows: Row[] = [
  { why: 'counts with the annotation it was made with, in another spelling', content: allowed, over: { allow: 'port,cgroupDriver' }, says: /^signed/ },
  { why: 'is missing', content: files, says: /^is missing/ },
  { why: 'does not count for another configuration', content: { ...signed, kubelet: 'maxPods: 51\n' }, says: other },
  { why: 'does not count when a file beside it is another one', content: { ...signed, 'ca.crt': 'another\n' }, says: other },
  { why: 'does not count for another key of the same ConfigMap', content: signed, over: { key: 'ca.crt' }, says: other },
  { why: 'does not count with an annotation that was not signed', content: signed, over: { allow: 'port' }, says: other },
  { why: 'does not count with an annotation that adds lines to the message', content: signed, over: { allow: 'a\nb' }, says: /visible ASCII/ },
  { why: 'does not count by a key that is not known', content: new SshSigner().signed(files), says: /^was made with key SHA256:[\w+/]{43}, which is not one of the signatureKeys/ },
  { why: 'does not count in another version of the format', content: made({ version: 2 }), says: /its version is not 1/ },
  { why: 'does not count with another beginning', content: made({ magic: 'SSHSIh' }), says: /not an SSH signature/ },
  { why: 'does not count with SHA-1 as its hash', content: made({ hash: 'sha1' }), says: /neither sha256 nor sha512/ },
  { why: 'does not count with bytes after it', content: made({ trailing: Buffer.of(0) }), says: /bytes after its end/ },
  { why: 'does not count when it is too long', content: sig('x'.repeat(MAX_SIGNATURE + 1)), says: /longer than 16384 bytes/ },
  { why: 'does not count when it is empty', content: sig(''), says: /must begin with/ },
  { why: 'does not count for another purpose', content: made({ namespace: 'git' }), says: /another purpose/ },
  { why: 'does not count with SHA-1 in RSA', content: made({ algorithm: 'ssh-rsa' }, rsa), over: { keys: [rsa] }, says: /uses SHA-1/ },
  { why: 'does not count under the algorithm of another key', content: made({ algorithm: 'rsa-sha2-512' }), says: /does not belong to its key/ },
  { why: 'does not count when nobody touched the authenticator', content: made({ flags: 0 }, fido), over: { keys: [fido] }, says: /did not touch/ },
  { why: 'does not count with characters that are not base64', content: sig(signed['kubelet.sig']?.replace('\n', '\n*') ?? ''), says: /not base64/ },
];
for (const { why, content, over, says } of rows) test(`a signature ${why}`, () => assert.match(verdict(content, over), says));

// prettier-ignore
const bad = [
  { why: 'is of DSA', line: 'ssh-dss AAAA', says: /must begin with/ },
  { why: 'has options', line: `cert-authority ${ci.line}`, says: /options, certificates and other types are not supported/ },
  { why: 'is of another type than it says', line: ci.line.replace('ssh-ed25519', 'ssh-rsa'), says: /another type than it says/ },
  { why: 'is of a short RSA key', line: new SshSigner('ssh-rsa', '', { bits: 1024 }).line, says: /RSA key of 1024 bits, and 2048 to 16384/ },
];
for (const { why, line, says } of bad) test(`a key line that ${why} is refused`, () => assert.throws(() => parseKeyLine(line), says));
