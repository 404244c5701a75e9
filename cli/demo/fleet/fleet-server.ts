import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startApiServer, type ApiServer, type ApiServerOptions } from '../../../apiserver/server.ts';
import { definitions } from '../../../deploy/definitions.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { FleetRecord } from './fleet-record.ts';

export const SERVER_VERSION = 'v1.36.3';

/** An API server for a fleet in this process. */
export interface FleetServer {
  /** A folder that goes in the end. */
  directory: string;
  /** An admin's. */
  kubeconfig: string;
  access: { server: string; origin: string; token: string };
  dial: ApiServer['dial'];
  /** Of every write since the start. */
  record: FleetRecord;
  client: Client;
  /** Agents have a connection of their own, so that nobody else waits for their requests. */
  agents: Client;
}

/** @param undo - ends it all */
export async function startFleetServer(
  { clock, random, log, bookmarkMs }: Pick<ApiServerOptions, 'clock' | 'random' | 'log' | 'bookmarkMs'>,
  origin: string,
  undo: AsyncDisposableStack,
): Promise<FleetServer> {
  const directory = await mkdtemp(join(tmpdir(), 'dkc-fleet-'));
  undo.defer(() => rm(directory, { recursive: true, force: true }));
  const server = await startApiServer({
    clock,
    random,
    log,
    version: SERVER_VERSION,
    dynamicKubeletConfig: false,
    definitions: definitions({ cel: false }),
    ...(bookmarkMs === undefined ? {} : { bookmarkMs }),
  });
  undo.defer(() => server.stop());
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const record = new FleetRecord();
  server.hooks.storage.onChange((kind, change) => record.see(kind, change));
  const access = { server: 'http://local', origin, token: server.token };
  const { dial } = server;
  const [client, agents] = [0, 1].map(() => createClient(access, { clock, random, dial })) as [Client, Client];
  undo.defer(() => client.close());
  undo.defer(() => agents.close());
  return { directory, kubeconfig, access, dial, record, client, agents };
}
