import { createServer, type Socket } from 'node:net';
import { rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { cureAuthority } from './authority-cure.ts';
import { startFakeDocker } from './fake-docker.ts';
import { fakeCalls, type FakeOptions, NotFound, NotImplemented, type Calls, type Message } from './fake-runtime-calls.ts';

export interface FakeRuntimeOptions extends Partial<FakeOptions> {
  /** Path of the socket to listen on; a stale one is replaced. */
  socket: string;
  /** The interface's protocol file, and the folder of what it imports. */
  proto: { file: string; includes: string };
}

/** The protocol file of v1alpha2 that build.sh leaves beside its parts. */
export const protoOfParts = (protoDir: string): FakeRuntimeOptions['proto'] => ({ file: 'api.proto', includes: protoDir });
/** That of v1, which needs no other. */
export const protoOfRelease = (path: string): FakeRuntimeOptions['proto'] => ({ file: basename(path), includes: dirname(path) });

/**
 * Starts a container runtime that runs nothing, for a real kubelet: pods reach Running and Ready, and no process is started.
 * @param options.api - version of the interface @default v1alpha2
 * @returns `close`, which cuts the connections and removes the socket
 */
export async function startFakeRuntime({
  socket,
  proto,
  api = 'v1alpha2',
  ...rest
}: FakeRuntimeOptions): Promise<{ close(): Promise<void> }> {
  const services = loadSync(proto.file, { includeDirs: [proto.includes], keepCase: true, defaults: true, longs: String, enums: String });
  const server = new grpc.Server();
  const calls = fakeCalls({ api, ...rest });
  server.addService(services[`runtime.${api}.RuntimeService`] as grpc.ServiceDefinition, handlers(calls.runtime));
  server.addService(services[`runtime.${api}.ImageService`] as grpc.ServiceDefinition, handlers(calls.images));

  const injector = server.createConnectionInjector(grpc.ServerCredentials.createInsecure());
  const sockets = new Set<Socket>();
  const listener = createServer((connection) => {
    sockets.add(connection);
    connection.once('close', () => sockets.delete(connection));
    connection.on('error', () => connection.destroy()); // a kubelet that was killed
    // A kubelet that speaks v1 sends `localhost` as its authority.
    const cured = api === 'v1' ? connection : Duplex.from({ readable: connection.pipe(cureAuthority(socket)), writable: connection });
    injector.injectConnection(cured);
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
        done({ code: codeOf(error), details: String(error) });
      }
    };
  return Object.fromEntries(Object.entries(calls).map(([name, answer]) => [name, handler(answer)]));
}

function codeOf(error: unknown): grpc.status {
  if (error instanceof NotFound) return grpc.status.NOT_FOUND;
  return error instanceof NotImplemented ? grpc.status.UNIMPLEMENTED : grpc.status.INTERNAL;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { socket: { type: 'string' }, protos: { type: 'string' }, v1: { type: 'string' }, 'docker-socket': { type: 'string' } },
  });
  const { socket, protos, v1 } = values;
  if (!socket || (protos === undefined) === (v1 === undefined)) {
    console.error('usage: fake-runtime.ts --socket PATH (--protos FOLDER | --v1 FILE) [--docker-socket PATH]');
    process.exit(2);
  }
  const parts = [
    v1 === undefined
      ? await startFakeRuntime({ socket, proto: protoOfParts(protos ?? '') })
      : await startFakeRuntime({ socket, api: 'v1', proto: protoOfRelease(v1) }),
  ];
  if (values['docker-socket']) parts.push(await startFakeDocker(values['docker-socket']));
  console.log('ready');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void Promise.all(parts.map((part) => part.close())).then(() => process.exit(0)));
  }
}
