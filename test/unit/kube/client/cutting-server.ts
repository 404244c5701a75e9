import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { apiServer } from '../../../support/embedded-api.ts';

/** How a connection ends: without a word more, or with a reset. */
export type Cut = 'end' | 'reset';

/** An API server behind a relay that cuts connections. */
export interface CuttingServer extends AsyncDisposable {
  url: string;
  caPem: string;
  token: string;
  /** Ends every connection there is. */
  cut(how: Cut): Promise<void>;
}

/** In this process. */
export async function cuttingServer(): Promise<CuttingServer> {
  const server = await apiServer();
  // A relay of the test's own, so that it decides how a connection ends.
  const relayed = new Set<Socket>();
  const relay = createServer((inner) => {
    const outer = connect(Number(new URL(server.url).port), '127.0.0.1');
    for (const [from, into] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        relayed.delete(inner);
        into.destroy();
      });
      from.pipe(into);
    }
    relayed.add(inner);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  const cut = (how: Cut): void => {
    for (const socket of relayed) {
      if (how === 'reset') socket.resetAndDestroy();
      else socket.destroy();
    }
  };
  return {
    url: `https://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    caPem: server.caPem,
    token: server.token,
    cut: async (how) => cut(how),
    async [Symbol.asyncDispose]() {
      cut('end');
      relay.close();
      await server.stop();
    },
  };
}

/** In a process of its own, so that this one holds nothing but what a client holds. */
export async function cuttingServerInChild(): Promise<CuttingServer> {
  const child = fork(join(import.meta.dirname, 'cutting-server-main.ts'), { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const ended = once(child, 'exit');
  // A race of promises would remember every answer for as long as the child lives, and be taken for a leak.
  const answer = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const lost = (): void => reject(new Error('the child server ended too early'));
      child.once('exit', lost);
      child.once('message', (message) => {
        child.off('exit', lost);
        resolve(message);
      });
    });
  const ready = (await answer()) as Pick<CuttingServer, 'url' | 'caPem' | 'token'>;
  return {
    ...ready,
    async cut(how) {
      const done = answer();
      child.send(how);
      await done;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
