import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';

// Below Linux's range for outgoing connections (32768 and up): whoever calls a server that is down for a restart can neither be given its
// port nor connect to himself, and no other connection of the machine takes it meanwhile.
const LOWEST = 12_000;
const HIGHEST = 32_000;

/** Ports of loopback that nobody listens on, all different. Somebody may still take one before its user does: then start again with others. */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  const ports: number[] = [];
  try {
    while (ports.length < count) {
      const port = randomInt(LOWEST, HIGHEST);
      const server = createServer();
      try {
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') continue;
        throw error;
      }
      held.push(server);
      ports.push(port);
    }
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
  return ports;
}
