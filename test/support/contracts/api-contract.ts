import { randomBytes } from 'node:crypto';
import { after, before, describe } from 'node:test';
import type { ContractWorld, ServerRelease } from './contract-world.ts';
import { ApiHttp } from '../api-http.ts';
import type { ApiAddress } from '../api-http.ts';
import { kindContract } from './api-kinds.ts';
import { droppedFieldsContract, nodeContract } from './api-nodes.ts';
import { objectContract } from './api-objects.ts';
import { evictionContract, podContract } from './api-pods.ts';
import { forgettingContract, watchContract } from './api-watches.ts';

export interface StartedApi extends ApiAddress, Pick<ContractWorld, 'nodeTokens' | 'forget'> {
  stop(): Promise<void>;
  /** @default 4 */
  bookmarkSeconds?: number;
}

/**
 * What dkc relies on of an API server of `release`, and what kubectl asks of one. Speaks plain HTTP, so that it holds for the
 * embedded server and the real one alike. Leaves nothing behind but events. A garbage collector has to follow owner references.
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
      world = { api, release, namespace, nodeTokens, bookmarkSeconds, forget, configMaps };
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
    if (release.dynamicKubeletConfig) nodeContract(here);
    else droppedFieldsContract(here);
    watchContract(here);
    kindContract(here);
    podContract(here);
    evictionContract(here);
    // The server may be another process afterwards, so this one stays the last.
    forgettingContract(here);
  });
}
