import type { Millis } from '../../../base/clock.ts';
import { fleetPage } from '../../../controllers/page/page.ts';
import { rolloutController } from '../../../controllers/rollout/controller.ts';
import { type NodeConfigRollout, rollouts } from '../../../controllers/rollout/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { watchObject } from '../../../kube/client/watch-object.ts';
import { runProcess } from '../../../kube/process/process.ts';
import type { Context } from '../../command.ts';
import { pageAssets } from '../../controllers/page-assets.ts';
import { Eye } from '../eye.ts';
import { FleetRecord } from './fleet-record.ts';
import { LightFleet } from './light-fleet.ts';
import type { Pace } from './light-node.ts';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, type ApiServerOptions, startApiServer } from '../../../apiserver/server.ts';
import { definitions } from '../../../deploy/manifests.ts';

const SERVER_VERSION = 'v1.36.3';

/** An API server for a fleet in this process. */
interface FleetServer {
  /** Temporary directory, removed at the end. */
  directory: string;
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  access: { server: string; origin: string; token: string };
  dial: ApiServer['dial'];
  /** Records every write since the start. */
  record: FleetRecord;
  client: Client;
  /** A separate client for the agents, so that other requests do not queue behind theirs. */
  agents: Client;
}

/** @param undo - disposes of all resources */
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

export const ROLLOUT = 'web';

/** Shorter times for agents: a trial of 3 s instead of 10 min. */
const quickPace: Pace = {
  trialDuration: 3_000,
  unhealthyDeadline: 120_000,
  maxKubeletExits: 3,
  syncInterval: 1_000,
  restartMs: 300,
};

/** A fleet with its API server and controller, in this process. */
export interface FleetStage extends AsyncDisposable {
  /** URL of the fleet page. */
  pageUrl: string;
  /** Path of an admin kubeconfig. */
  kubeconfig: string;
  client: Client;
  fleet: LightFleet;
  record: FleetRecord;
  rollout: Eye<NodeConfigRollout>;
}

/** Starts API server and controller, without nodes. */
export async function buildFleet(context: Context, count: number): Promise<FleetStage> {
  const { clock, random, log } = context;
  await using undo = new AsyncDisposableStack();
  // Long, since each agent has two or three watches.
  const bookmarkMs: Millis = 600_000;
  const { kubeconfig, access, dial, record, client, agents } = await startFleetServer({ clock, random, log, bookmarkMs }, 'demo', undo);
  const over = new AbortController();
  undo.defer(() => over.abort(new Error('the demo is over')));
  const working = Promise.withResolvers<void>();
  const page = Promise.withResolvers<string>();
  const serves = { version: SERVER_VERSION, servesNodeConfigs: true, hasConfigSource: false };
  const at = { host: '127.0.0.1', port: 0 };
  const controller = runProcess(
    {
      name: 'dkc-controllers',
      access,
      leaderElect: false,
      metricsAddress: '',
      setup: (runtime) => [
        rolloutController(runtime, { serves }),
        fleetPage(runtime, { at, assets: pageAssets(), serves, onServed: (url) => page.resolve(url) }),
      ],
      onReady: () => working.resolve(),
      onFailed: ({ error }) => working.reject(error),
    },
    { clock, random, log, signal: over.signal, createClient: (source, given) => createClient(source, { ...given, dial }) },
  );
  undo.defer(async () => void (await controller.catch(() => 1)));
  const rollout = new Eye<NodeConfigRollout>(clock);
  const onSeen = ({ object }: { object: NodeConfigRollout | undefined }): void => {
    if (object) rollout.see(object);
  };
  const watching = watchObject<NodeConfigRollout>({ client, clock, random, log }, rollouts, { name: ROLLOUT }, { onSeen }, over.signal);
  undo.defer(() => watching);
  await working.promise;
  const pageUrl = await page.promise;
  const fleet = new LightFleet({ count, pace: quickPace, clock, random, version: context.build.version, client: agents });
  undo.use(fleet);
  const built = undo.move();
  return {
    pageUrl,
    kubeconfig,
    client,
    fleet,
    record,
    rollout,
    async [Symbol.asyncDispose]() {
      over.abort(new Error('the demo is over'));
      await built.disposeAsync();
    },
  };
}
