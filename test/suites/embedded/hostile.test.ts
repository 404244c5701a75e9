import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { loadKubeconfig } from '../../../kube/client/access.ts';
import { corpus } from '../../support/hostile/corpus/all.ts';
import type { Hostile } from '../../support/hostile/corpus/hostile.ts';
import { startPrograms } from '../../support/hostile/programs.ts';
import { Stage } from '../../support/hostile/stage.ts';
import { Subject } from '../../support/hostile/subject.ts';

let server: Subject;
let client: Client;
let stage: Stage;

before(async () => {
  server = await Subject.start('server', ['apiserver']);
  const { kubeconfig } = await server.said;
  const path = String(kubeconfig);
  client = createClient(await loadKubeconfig(path));
  stage = new Stage({ server: 'embedded', embedded: server, client, start: () => startPrograms(path) });
  await stage.open();
});
after(async () => {
  await stage.close();
  await client.close();
  await server.stop();
});

const only = process.env['DKC_HOSTILE'];
/** Together, since there is no time for one by one here; `DKC_HOSTILE=WORDS` plays those rows that say the words, one by one. */
const groups: readonly [string, readonly Hostile[]][] =
  only === undefined
    ? Object.entries(corpus)
    : Object.values(corpus)
        .flat()
        .filter(({ why }) => why.includes(only))
        .map((row) => [row.why, [row]]);

for (const [kind, rows] of groups)
  test(`hostile ${kind}: a hundred ordinary objects are served beside them`, async (t) => {
    const { problems, figures, taken } = await stage.play(rows);
    t.diagnostic(`${taken} objects: ${figures}`);
    assert.deepEqual(problems, []);
  });

test('programs that start beside hostile objects of every kind serve the ordinary ones', async () => {
  const rows = Object.values(corpus).flatMap(([first, second]) => [first, second].filter((row) => row !== undefined));
  assert.deepEqual(await stage.restartBeside(rows), []);
});
