import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type KeyPair = { cert: string; key: string };

/** A certificate authority of the test's own, made with openssl in a directory that `remove` takes away. */
export interface Authority {
  directory: string;
  ca: string;
  server(names?: string): Promise<KeyPair>;
  /** A client certificate for `commonName`, to Kubernetes the user, in `organizations`, the groups. */
  client(commonName: string, organizations?: readonly string[]): Promise<KeyPair>;
  remove(): Promise<void>;
}

export async function makeAuthority(): Promise<Authority> {
  const directory = await mkdtemp(join(tmpdir(), 'dkc-ca-'));
  const path = (name: string) => join(directory, name);
  const openssl = (...args: string[]) => run('openssl', args, { cwd: directory });
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  await openssl('req', '-x509', ...curve, '-keyout', 'ca.key', '-out', 'ca.crt', '-days', '2', '-subj', '/CN=test-ca');
  let made = 0;
  const issue = async (commonName: string, extensions: string, organizations: readonly string[] = []): Promise<KeyPair> => {
    const id = `c${made++}`;
    await writeFile(path(`${id}.ext`), extensions);
    const subject = `${organizations.map((name) => `/O=${name}`).join('')}/CN=${commonName}`;
    await openssl('req', ...curve, '-keyout', `${id}.key`, '-out', `${id}.csr`, '-subj', subject);
    const signer = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-set_serial', String(1_000 + made)];
    await openssl('x509', '-req', '-in', `${id}.csr`, ...signer, '-out', `${id}.crt`, '-days', '1', '-extfile', `${id}.ext`);
    return { cert: await readFile(path(`${id}.crt`), 'utf8'), key: await readFile(path(`${id}.key`), 'utf8') };
  };
  return {
    directory,
    ca: await readFile(path('ca.crt'), 'utf8'),
    server: (names = 'IP:127.0.0.1,DNS:localhost') => issue('server', `subjectAltName=${names}\n`),
    client: (commonName, organizations) => issue(commonName, 'extendedKeyUsage=clientAuth\n', organizations),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
