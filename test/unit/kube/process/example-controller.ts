import { configMaps, type KubeObject } from '../../../../kube/api/object.ts';
import { type Informer, type Key, parseKey } from '../../../../kube/cache/contract.ts';
import { type Controller, done, type Outcome } from '../../../../kube/controller/controller.ts';
import { runController } from '../../../../kube/controller/run-controller.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { EventRecorder } from '../../../../kube/controller/event-recorder.ts';
import type { Runnable, Runtime } from '../../../../kube/process/contract.ts';

interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

const annotation = 'example.com/keys';

/** What is to be written, decided without a clock or a network: undefined when all is as it should be. */
export function plan({ metadata, data = {} }: Readonly<ConfigMap>): string | undefined {
  const keys = Object.keys(data).toSorted().join(',');
  return metadata.annotations?.[annotation] === keys ? undefined : keys;
}

/** Keeps an annotation on every ConfigMap that lists its keys. */
export function keyLister(runtime: Runtime): Runnable {
  const { informers, client, events, queue, clock, log } = runtime;
  const maps = informers.of<ConfigMap>(configMaps);
  const world = { maps, client, events: events('key-lister') };
  const controller: Controller<ConfigMap> = {
    name: 'key-lister',
    primary: maps,
    reconcile: (key, signal) => reconcile(key, world, signal),
  };
  const options = { queue: queue('key-lister'), workers: 2, clock, log };
  return { name: controller.name, run: (signal) => runController(controller, options, signal) };
}

async function reconcile(
  key: Key,
  { maps, client, events }: { maps: Informer<ConfigMap>; client: Client; events: EventRecorder },
  signal: AbortSignal,
): Promise<Outcome> {
  const map = maps.get(key);
  if (map === undefined || map.metadata.deletionTimestamp !== undefined) return done;
  const keys = plan(map);
  if (keys === undefined) return done;
  // The version that the decision rests on goes along: on an old one the server says 409, and the key comes back.
  const { resourceVersion } = map.metadata;
  const change = { metadata: { resourceVersion, annotations: { [annotation]: keys } } };
  await client.patch(configMaps, parseKey(key), change, { type: 'merge', signal });
  events.event(map, 'Normal', 'KeysListed', `Listed keys: ${keys}`, { resource: configMaps });
  return done;
}
