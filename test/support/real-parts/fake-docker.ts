import { createServer } from 'node:http';
import { rm } from 'node:fs/promises';

/**
 * A socket that answers Docker's info call and nothing else. The kubelet's cAdvisor asks for it five times, a second apart, before
 * it gives up: with an answer a start takes 0.5 s instead of 5.6 s.
 */
export async function startFakeDocker(socket: string): Promise<{ close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const known = request.url?.endsWith('/info') === true;
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' });
    response.end(known ? JSON.stringify({ DockerRootDir: '/nowhere', Driver: 'overlay2' }) : '{}');
  });
  await rm(socket, { force: true }); // of a run that was killed
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(socket, resolve));
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
