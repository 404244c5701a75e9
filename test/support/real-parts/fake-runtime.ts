import { createServer, type Socket } from 'node:net';
import { rm } from 'node:fs/promises';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { cureAuthority } from './authority-cure.ts';
import { startFakeDocker } from './fake-docker.ts';
import { fakeCalls, NotFound, type Calls, type Message } from './fake-runtime-calls.ts';

/**
 * Starts a container runtime that runs nothing, for a real kubelet: pods reach Running and Ready, and no process is started.
 * @param options.socket - path of the socket to listen on; a stale one is replaced
 * @param options.protoDir - the folder `protos` beside the real parts
 * @returns `close`, which cuts the connections and removes the socket
 */
export async function startFakeRuntime({ socket, protoDir }: { socket: string; protoDir: string }): Promise<{ close(): Promise<void> }> {
  const services = loadSync('api.proto', { includeDirs: [protoDir], keepCase: true, defaults: true, longs: String, enums: String });
  const server = new grpc.Server();
  const calls = fakeCalls();
  server.addService(services['runtime.v1alpha2.RuntimeService'] as grpc.ServiceDefinition, handlers(calls.runtime));
  server.addService(services['runtime.v1alpha2.ImageService'] as grpc.ServiceDefinition, handlers(calls.images));

  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const listener = createServer((connection) => {
    sockets.add(connection);
    connection.once('close', () => sockets.delete(connection));
    connection.on('error', () => connection.destroy()); // a kubelet that was killed
    injector.injectConnection(Duplex.from({ readable: connection.pipe(cureAuthority(socket)), writable: connection }));
  });
  await rm(socket, { force: true });
  await new Promise<void>((resolve, reject) => listener.once('error', reject).listen(socket, resolve));

  return {
    async close() {
      injector.destroy();
      server.forceShutdown();
      for (const connection of sockets) connection.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

function handlers(calls: Calls): grpc.UntypedServiceImplementation {
  const handler =
    (answer: (request: Message) => Message): grpc.handleUnaryCall<Message, Message> =>
    (call, done) => {
      try {
        done(null, answer(call.request));
      } catch (error) {
        const code = error instanceof NotFound ? grpc.status.NOT_FOUND : grpc.status.INTERNAL;
        done({ code, details: String(error) });
      }
    };
  return Object.fromEntries(Object.entries(calls).map(([name, answer]) => [name, handler(answer)]));
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { socket: { type: 'string' }, protos: { type: 'string' }, 'docker-socket': { type: 'string' } },
  });
  if (!values.socket || !values.protos) {
    console.error('usage: fake-runtime.ts --socket PATH --protos FOLDER [--docker-socket PATH]');
    process.exit(2);
  }
  const parts = [await startFakeRuntime({ socket: values.socket, protoDir: values.protos })];
  if (values['docker-socket']) parts.push(await startFakeDocker(values['docker-socket']));
  console.log('ready');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void Promise.all(parts.map((part) => part.close())).then(() => process.exit(0)));
  }
}
