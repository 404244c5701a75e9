import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '../../kube/client/http-client.ts';
import type { Place } from './site.ts';

/** The embedded API server in a separate process. Every user is admin. */
export async function embeddedPlace(): Promise<Place> {
  await using undo = new AsyncDisposableStack();
  const directory = await mkdtemp(join(tmpdir(), 'dkc-bench-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const child = fork(join(import.meta.dirname, 'embedded.ts'), { execArgv: ['--max-old-space-size=8000'] });
  const gone = once(child, 'exit');
  undo.defer(async () => {
    child.kill('SIGKILL');
    await gone;
  });
  const [access] = (await Promise.race([once(child, 'message'), gone])) as [
    Record<'url' | 'ca' | 'token' | 'kubeconfig', string> | number | null,
  ];
  if (access === null || typeof access === 'number') throw new Error(`the embedded API server ended with ${access ?? 'a signal'}`);
  const client = createClient({ origin: 'the benchmark', server: access.url, ca: { data: access.ca }, token: access.token });
  undo.defer(() => client.close());
  const path = join(directory, 'kubeconfig');
  await writeFile(path, access.kubeconfig, { mode: 0o600 });
  const owned = undo.move();
  return {
    client,
    directory,
    kubeconfig: () => Promise.resolve(path),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
