import { randomBytes } from 'node:crypto';
import { after, before, describe } from 'node:test';
import type { ContractWorld, ServerRelease } from './contract-world.ts';
import { ApiHttp } from '../api-http.ts';
import type { ApiAddress } from '../api-http.ts';
import { appsContract } from './api-apps.ts';
import { clusterKindContract } from './api-cluster-kinds.ts';
import { configMapContract } from './api-config-maps.ts';
import { deletionContract } from './api-deletions.ts';
import { evictionContract } from './api-evictions.ts';
import { forgettingContract } from './api-forgetting.ts';
import { kindContract } from './api-kinds.ts';
import { leaseContract } from './api-leases.ts';
import { listContract } from './api-lists.ts';
import { droppedFieldsContract } from './api-dropped-fields.ts';
import { nodeContract } from './api-nodes.ts';
import { objectContract } from './api-objects.ts';
import { ownerContract } from './api-owners.ts';
import { pageContract } from './api-pages.ts';
import { patchContract } from './api-patches.ts';
import { podSpecContract } from './api-pod-specs.ts';
import { podContract } from './api-pods.ts';
import { resumptionContract } from './api-resumption.ts';
import { watchContract } from './api-watches.ts';

export interface StartedApi extends ApiAddress {
  stop(): Promise<void>;
  /**
   * Length of the watch that waits for a bookmark, in s; the real server's last bookmark comes two seconds before the end.
   * @default 4
   */
  bookmarkSeconds?: number;
  /** Token of `system:node:NAME` in system:nodes, for `contract-a` and `contract-b`. Without it the Node authorizer is not asked. */
  nodeTokens?: Readonly<Record<string, string>>;
  /** Makes the server forget all changes so far. */
  forget: () => Promise<void>;
}

/**
 * What dkc relies on of an API server of `release`. Speaks plain HTTP, so that it holds for the
 * embedded server and the real one alike. Leaves nothing behind but events.
 * A garbage collector has to follow owner references.
 */
export function apiContract(name: string, release: ServerRelease, start: () => Promise<StartedApi>): void {
  describe(`API contract on ${name}`, () => {
    let started: StartedApi | undefined;
    let world: ContractWorld | undefined;
    before(async () => {
      started = await start();
      const namespace = `contract-${randomBytes(4).toString('hex')}`;
      const api = new ApiHttp(started);
      await api.post('/api/v1/namespaces', { metadata: { name: namespace } });
      const { nodeTokens, bookmarkSeconds = 4, forget } = started;
      const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
      world = { api, namespace, nodeTokens, bookmarkSeconds, forget, configMaps };
    });
    after(async () => {
      if (world) await world.api.delete(`/api/v1/namespaces/${world.namespace}`);
      await started?.stop();
    });
    const here = (): ContractWorld => {
      if (world === undefined) throw new Error('the server did not start');
      return world;
    };
    objectContract(here);
    patchContract(here);
    configMapContract(here, release);
    if (release.dynamicKubeletConfig) nodeContract(here);
    else droppedFieldsContract(here);
    listContract(here);
    watchContract(here);
    kindContract(here);
    appsContract(here, release);
    podSpecContract(here, release);
    clusterKindContract(here, release);
    deletionContract(here);
    ownerContract(here, release);
    podContract(here, release);
    evictionContract(here, release);
    leaseContract(here);
    pageContract(here, release);
    resumptionContract(here);
    // The server may be another process afterwards, so this one stays the last.
    forgettingContract(here);
  });
}
