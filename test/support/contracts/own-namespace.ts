import { after, before, describe } from 'node:test';
import type { ContractWorld } from './api-contract.ts';

/** Tests in a namespace beside the run's own: they leave objects behind while they run, and others count theirs. */
export function inOwnNamespace(here: () => ContractWorld, part: string, tests: (namespace: () => string) => void): void {
  const name = () => `${here().namespace}-${part}`;
  describe(part, () => {
    before(async () => {
      await here().api.post('/api/v1/namespaces', { metadata: { name: name() } });
    });
    after(async () => {
      await here().api.delete(`/api/v1/namespaces/${name()}`);
    });
    tests(name);
  });
}
