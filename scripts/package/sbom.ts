/** A component of a package: code in the bundle, or Node.js. */
export interface Component {
  name: string;
  version: string;
  /** SPDX expression. */
  license: string | undefined;
  /** Hash from package-lock.json: `sha512-BASE64`. */
  integrity?: string | undefined;
  /** Hash in hex, for a file that does not come from npm. */
  sha256?: string;
  /** Package URL. */
  purl: string;
}

export const npmPurl = (name: string, version: string): string => `pkg:npm/${name.replace(/^@/, '%40')}@${version}`;

const hashes = ({ integrity, sha256 }: Component): { alg: string; content: string }[] => [
  ...(sha256 === undefined ? [] : [{ alg: 'SHA-256', content: sha256 }]),
  ...(integrity?.startsWith('sha512-') ? [{ alg: 'SHA-512', content: Buffer.from(integrity.slice(7), 'base64').toString('hex') }] : []),
];

/**
 * Software bill of materials, CycloneDX 1.6. It has no serial number and the commit's time, so that two builds write the same bytes.
 * @param of - version, commit, time and architecture of the package
 */
export function bom(of: { version: string; commit: string; epoch: number; arch: string }, components: readonly Component[]): string {
  const root = { type: 'application', 'bom-ref': 'dkc', name: 'dkc', version: of.version, licenses: [{ expression: 'Apache-2.0' }] };
  const listed = components.map((one) => ({
    type: 'library',
    'bom-ref': one.purl,
    name: one.name,
    version: one.version,
    ...(one.license === undefined ? {} : { licenses: [{ expression: one.license }] }),
    ...(hashes(one).length === 0 ? {} : { hashes: hashes(one) }),
    purl: one.purl,
  }));
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(of.epoch * 1000).toISOString(),
      component: { ...root, properties: [{ name: 'dkc:commit', value: of.commit }, { name: 'dkc:arch', value: of.arch }] }, // prettier-ignore
    },
    components: listed,
    dependencies: [{ ref: 'dkc', dependsOn: listed.map((one) => one['bom-ref']) }],
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}
