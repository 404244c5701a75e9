import assert from 'node:assert/strict';
import { test } from 'node:test';
import { byRelease, type ContractWorld, type ServerRelease } from './contract-world.ts';
import { text } from '../api-http.ts';
import type { Loose } from '../api-http.ts';
import { eventually } from '../eventually.ts';

const HOLD = 'example.com/hold';

/** Owner references: what is refused, and what becomes of dependents. */
export function ownerContract(here: () => ContractWorld, release: ServerRelease): void {
  test('owner references are held to their rules', async () => {
    const { api, configMaps } = here();
    const refused = async (ownerReferences: object[]): Promise<string> => {
      const { code, json } = await api.post(configMaps, { metadata: { name: 'owned', ownerReferences } });
      assert.equal(code, 422);
      return text(json['message']);
    };
    const reference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'u' };
    assert.match(
      await refused([{ ...reference, apiVersion: '' }]),
      /metadata\.ownerReferences\.apiVersion: Invalid value: "": version must not be empty/,
    );
    const empty = (field: string) => byRelease(release, `${field} must not be empty`, 'must not be empty');
    assert.match(
      await refused([{ ...reference, kind: '' }]),
      new RegExp(`metadata\\.ownerReferences\\.kind: Invalid value: "": ${empty('kind')}`),
    );
    assert.match(
      await refused([{ ...reference, name: '' }]),
      new RegExp(`metadata\\.ownerReferences\\.name: Invalid value: "": ${empty('name')}`),
    );
    assert.match(
      await refused([{ ...reference, uid: '' }]),
      new RegExp(`metadata\\.ownerReferences\\.uid: Invalid value: "": ${empty('uid')}`),
    );
    assert.match(
      await refused([1, 2].map((n) => ({ ...reference, name: `o${n}`, uid: `u${n}`, controller: true }))),
      /metadata\.ownerReferences: Invalid value: .*: Only one reference can have Controller set to true\. Found "true" in references for (ConfigMap\/)?o1 and (ConfigMap\/)?o2$/,
    );
  });

  collectionContract(here);
}

function collectionContract(here: () => ContractWorld): void {
  /** Objects are made as `name` or `name:finalizer`; the references of those after the first lead to it. */
  const make = async (name: string, owners: readonly Loose[] = [], finalizers: readonly string[] = []): Promise<Loose> => {
    const { api, configMaps } = here();
    const ownerReferences = owners.map(({ metadata }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: metadata?.['name'],
      uid: metadata?.['uid'],
      blockOwnerDeletion: true,
    }));
    const { code, json } = await api.post(configMaps, { metadata: { name, ownerReferences, finalizers } });
    assert.equal(code, 201, text(json['message']));
    return json;
  };
  const get = async (name: string): Promise<Loose | undefined> => {
    const { code, json } = await here().api.get(`${here().configMaps}/${name}`);
    return code === 404 ? undefined : json;
  };
  const gone = (name: string): Promise<true> => eventually(`${name} is gone`, async () => (await get(name)) === undefined);
  const marked = (name: string): Promise<Loose> =>
    eventually(`${name} is going`, async () => {
      const object = await get(name);
      return object?.['metadata']?.['deletionTimestamp'] === undefined ? undefined : object;
    });
  const remove = (name: string, propagationPolicy: string) => here().api.delete(`${here().configMaps}/${name}`, { propagationPolicy });
  const release = (name: string) => here().api.patch(`${here().configMaps}/${name}`, { metadata: { finalizers: null } });

  test('in the background the owner goes first, and what it owned follows, to any depth', async () => {
    const owner = await make('bg-owner');
    const child = await make('bg-child', [owner]);
    await make('bg-grandchild', [child]);
    assert.equal((await remove('bg-owner', 'Background')).json['status'], 'Success');
    assert.equal(await get('bg-owner'), undefined);
    await gone('bg-child');
    await gone('bg-grandchild');
  });

  test('in the foreground the owner stays until what blocks it is gone', async () => {
    const owner = await make('fg-owner');
    await make('fg-child', [owner], [HOLD]);
    const answer = (await remove('fg-owner', 'Foreground')).json;
    assert.deepEqual(answer['metadata']?.['finalizers'], ['foregroundDeletion']);
    await marked('fg-child');
    assert.notEqual(await get('fg-owner'), undefined);
    await release('fg-child');
    await gone('fg-child');
    await gone('fg-owner');
  });

  test('an orphan loses the reference and stays', async () => {
    const owner = await make('or-owner');
    await make('or-child', [owner]);
    const answer = (await remove('or-owner', 'Orphan')).json;
    assert.deepEqual(answer['metadata']?.['finalizers'], ['orphan']);
    await gone('or-owner');
    const child = await get('or-child');
    assert.equal(child?.['metadata']?.['ownerReferences'], undefined);
    assert.equal(child?.['metadata']?.['deletionTimestamp'], undefined);
  });

  test('what has another owner left stays, and forgets the one that is gone', async () => {
    const [first, second] = [await make('two-first'), await make('two-second')];
    await make('two-child', [first, second]);
    await remove('two-first', 'Background');
    const child = await eventually('the reference to the first is taken out', async () => {
      const object = await get('two-child');
      return Object.keys(object?.['metadata']?.['ownerReferences'] ?? {}).length === 1 ? object : undefined;
    });
    assert.equal(child['metadata']?.['ownerReferences']?.['0']?.['name'], 'two-second');
    await remove('two-second', 'Background');
    await gone('two-child');
  });

  test('what refers to an object that never was, or was another one of that name, is collected', async () => {
    const owner = await make('now-owner');
    const earlier: Loose = {
      metadata: { name: owner['metadata']?.['name'] ?? {}, uid: JSON.parse('"00000000-0000-4000-8000-000000000000"') },
    };
    await make('of-another', [earlier]);
    await gone('of-another');
    assert.notEqual(await get('now-owner'), undefined);
  });
}
