import type { LocalApi } from '../../../apiserver/local-api.ts';
import { realClock } from '../../../base/clock.ts';
import { seededRandom } from '../../../base/random.ts';
import { FleetRecord } from '../../../cli/demo/fleet/fleet-record.ts';
import { LightFleet } from '../../../cli/demo/fleet/light-fleet.ts';
import { definitions } from '../../../deploy/manifests.ts';
import type { Client } from '../../../kube/client/client.ts';
import { localApi, localClient } from '../embedded-api.ts';
import type { MortalController } from './mortal-controller.ts';

export interface FleetStage {
  api: LocalApi;
  /** What the API server tells of each write. */
  record: FleetRecord;
  client: Client;
  fleet: LightFleet;
  /** Ends the faults, then these controllers, the agents and the API server. */
  end(controllers: readonly MortalController[]): Promise<void>;
}

/** So many light agents, not started yet, on an embedded API server of 1.36.3 without dynamic kubelet configuration. */
export function fleetStage(count: number, pace: ConstructorParameters<typeof LightFleet>[0]['pace']): FleetStage {
  const api = localApi(realClock, {
    version: 'v1.36.3',
    dynamicKubeletConfig: false,
    definitions: definitions({ cel: false }),
    bookmarkMs: 600_000,
  });
  const record = new FleetRecord();
  api.hooks.storage.onChange((kind, change) => record.see(kind, change));
  const [client, agents] = [localClient(api), localClient(api)];
  const fleet = new LightFleet({ count, pace, clock: realClock, random: seededRandom(3), version: '0.1.0', client: agents });
  return {
    api,
    record,
    client,
    fleet,
    end: async (controllers) => {
      api.hooks.setFaults([]);
      await Promise.all([...controllers.map((one) => one.stop()), fleet[Symbol.asyncDispose]()]);
      await Promise.all([client.close(), agents.close()]);
      api.stop();
    },
  };
}
