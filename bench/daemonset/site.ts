import { createReadStream, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../kube/client/http-client.ts';
import type { Client } from '../../kube/client/client.ts';
import { startControlPlane } from '../../test/support/real-parts/control-plane.ts';
import type { ControlPlane } from '../../test/support/real-parts/control-plane.ts';
import { builtRelease, givenRelease } from '../../test/support/real-parts/release.ts';
import type { Release } from '../../test/support/real-parts/release.ts';
import { CallCounter } from './calls.ts';
import type { Calls } from './calls.ts';

/** A control plane for a subject. */
export interface Place extends AsyncDisposable {
  /** Client of an admin. */
  client: Client;
  /** Path of a kubeconfig. @param user - an admin with this name; the server's admin if absent */
  kubeconfig(user?: User): Promise<string>;
  /** Temporary directory, removed on disposal. */
  directory: string;
  /** Undefined with the embedded API server: kube-controller-manager needs a real one. */
  plane?: ControlPlane;
}

/** A real control plane, without controllers, with an audit log of all calls. */
export interface Site extends Place {
  /** Current size of the audit log, in bytes. */
  readonly mark: number;
  /** Calls of this user since then. */
  callsSince(mark: number, user: User): Promise<Calls>;
}

export type User = 'dkc' | 'kube-controller-manager';

const users: readonly User[] = ['dkc', 'kube-controller-manager'];
const tokenOf = (user: User): string => `${user}-token`;
const IN_FLIGHT = 64;

const policy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: [${users.join(', ')}]
- level: None
`;

/** The release of `DKC_REAL_KUBERNETES`; 1.20.2, which is built, if unset. */
const benchRelease = (): Promise<Release> =>
  (process.env['DKC_REAL_KUBERNETES'] ?? '') === '' ? Promise.resolve(builtRelease) : givenRelease();

/** @throws {RealPartsUnavailable} if the programs are not available on this machine */
export async function benchSite(): Promise<Site> {
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'dkc-bench-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const [policyFile, audit] = [join(directory, 'audit.yaml'), join(directory, 'audit.log')];
  await writeFile(policyFile, policy);
  const release = await benchRelease();
  const plane = await startControlPlane({
    release,
    extraTokens: users.map((user) => ({ token: tokenOf(user), user, groups: ['system:masters'] })),
    apiServerArgs: [
      `--audit-policy-file=${policyFile}`,
      `--audit-log-path=${audit}`,
      // Otherwise the server starts a new file, and the benchmark would not read the old one.
      '--audit-log-maxsize=100000',
      // For cleaning up between rounds.
      '--delete-collection-workers=16',
    ],
  });
  undo.defer(() => plane.stop());
  console.error(`  on etcd and kube-apiserver, beside upstream's controllers and scheduler, ${release.version}`);
  const access = { origin: 'the benchmark', server: plane.url, ca: { data: plane.ca }, token: plane.adminToken };
  const client = createClient(access, { limits: { writing: IN_FLIGHT }, timeoutMs: 120_000 });
  undo.defer(() => client.close());
  const owned = undo.move();
  return {
    client,
    directory,
    plane,
    kubeconfig: async (user) => {
      const path = join(directory, `${user ?? 'admin'}.kubeconfig`);
      await writeFile(path, plane.kubeconfig(user === undefined ? undefined : tokenOf(user)), { mode: 0o600 });
      return path;
    },
    get mark() {
      return statSync(audit, { throwIfNoEntry: false })?.size ?? 0;
    },
    callsSince: async (mark, user) => {
      const counter = new CallCounter(user);
      for await (const text of createReadStream(audit, { start: mark, encoding: 'utf8' }) as AsyncIterable<string>) counter.add(text);
      return counter.calls;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
