import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeyPair } from '../../../support/certificates.ts';
import { json, type Kind, node, standIn } from './api-stand-in.ts';

interface ChildServer extends AsyncDisposable {
  url: string;
  /** Freezes it: its kernel goes on answering for it, it does not. */
  freeze(): void;
  thaw(): void;
}

/** A stand-in server in another process: it answers every request with Node `n`, and a watch with one event and then nothing. */
export async function childServer(kind: Kind, pair: KeyPair): Promise<ChildServer> {
  const directory = await mkdtemp(join(tmpdir(), 'dkc-child-server-'));
  const [cert, key] = [join(directory, 'crt'), join(directory, 'key')];
  await writeFile(cert, pair.cert);
  await writeFile(key, pair.key, { mode: 0o600 });
  const args = [import.meta.filename, kind, ...(kind === 'http' ? [] : [cert, key])];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
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

if (import.meta.main) {
  const [kind, cert, key] = process.argv.slice(2) as [Kind, string?, string?];
  const tls = cert === undefined || key === undefined ? undefined : { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  const { url } = await standIn(
    kind,
    (request, response) => {
      if (request.url?.includes('watch=true') !== true) return json(response, 200, node('n', '1'));
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(`${JSON.stringify({ type: 'ADDED', object: node('n', '1') })}\n`);
    },
    tls,
  );
  process.stdout.write(`${url}\n`);
}
