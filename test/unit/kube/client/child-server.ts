import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyPair } from '../../../support/certificates.ts';

interface ChildServer extends AsyncDisposable {
  url: string;
  /** Freezes it: its kernel goes on answering for it, it does not. */
  freeze(): void;
  thaw(): void;
}

/** A stand-in server in another process: it answers every request with Node `n`, and a watch with one event and then nothing. */
export async function childServer(kind: 'h2' | 'https' | 'http', pair: KeyPair): Promise<ChildServer> {
  const directory = await mkdtemp(join(tmpdir(), 'dkc-child-server-'));
  const [cert, key] = [join(directory, 'crt'), join(directory, 'key')];
  await writeFile(cert, pair.cert);
  await writeFile(key, pair.key, { mode: 0o600 });
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'child-server-main.ts'), kind, ...(kind === 'http' ? [] : [cert, key])],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const gone = once(child, 'exit');
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    void gone.then(() => reject(new Error('the child server ended before it was ready')));
  });
  return {
    url,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await gone;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
