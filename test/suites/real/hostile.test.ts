import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Client } from '../../../kube/client/client.ts';
import { corpus } from '../../support/hostile/corpus/all.ts';
import { startPrograms } from '../../support/hostile/programs.ts';
import { inTurn } from '../../support/in-turn.ts';
import { Stage } from '../../support/hostile/stage.ts';
import { adminClient } from '../../support/real-parts/admin-client.ts';
import { startControlPlane, type ControlPlane } from '../../support/real-parts/control-plane.ts';
import { withRealParts } from './suite.ts';

/** Rows that are put beside the ordinary objects at once: a real server needs seconds to take some of them away again. */
const AT_ONCE = 6;

/**
 * The same corpus as on the embedded server (`test/support/hostile/`). `DKC_HOSTILE=WORDS` plays those rows that say the words, one by one; with DKC_HOSTILE_EVERY=6, as in CI,
 * a sixth of the rows is played, another one each day.
 */
await withRealParts('hostile objects', ['etcd', 'kube-apiserver', 'kube-controller-manager'], () => {
  let plane: ControlPlane;
  let client: Client;
  let stage: Stage;
  let home: string;

  before(async () => {
    // What keeps claims in use from being deleted takes its mark away from twenty in a second, and here there are thousands.
    const apiServerArgs = ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection'];
    plane = await startControlPlane({ controllers: 'garbagecollector', apiServerArgs });
    home = await mkdtemp(join(tmpdir(), 'dkc-hostile-'));
    const kubeconfig = join(home, 'kubeconfig');
    await writeFile(kubeconfig, plane.kubeconfig(), { mode: 0o600 });
    client = adminClient(plane);
    stage = new Stage({ server: 'real', client, start: () => startPrograms(kubeconfig) });
    await stage.open();
  });
  after(async () => {
    await stage.close();
    await client.close();
    await plane.stop();
    await rm(home, { recursive: true, force: true });
  });

  const only = process.env['DKC_HOSTILE'];
  const rows = Object.values(corpus)
    .flat()
    .filter(({ why }) => why.includes(only ?? ''));
  const today = inTurn(rows, only === undefined ? Number(process.env['DKC_HOSTILE_EVERY'] ?? 1) : 1);
  const atOnce = only === undefined ? AT_ONCE : 1;
  for (let at = 0; at < today.length; at += atOnce) {
    const some = today.slice(at, at + atOnce);
    test(`${some.map(({ why }) => why).join('; ')}: a hundred ordinary objects are served beside them`, async (t) => {
      const { problems, figures, taken } = await stage.play(some);
      t.diagnostic(`${taken} objects: ${figures}`);
      assert.deepEqual(problems, []);
    });
  }

  test('programs that start beside hostile objects of every kind serve the ordinary ones', async () => {
    const rows = Object.values(corpus).flatMap(([first, second]) => [first, second].filter((row) => row !== undefined));
    assert.deepEqual(await stage.restartBeside(rows), []);
  });
});
