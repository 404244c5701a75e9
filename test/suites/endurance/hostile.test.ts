import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import { loadKubeconfig } from '../../../kube/client/access.ts';
import { many } from '../../support/hostile/corpus/hostile.ts';
import { startPrograms } from '../../support/hostile/programs.ts';
import { randomHostile } from '../../support/hostile/random.ts';
import { Stage } from '../../support/hostile/stage.ts';
import { Subject } from '../../support/hostile/subject.ts';

/** Objects in all; 1,000 take an hour or less. */
const OBJECTS = Number(process.env['DKC_HOSTILE_OBJECTS'] ?? 150);
const FIRST = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** Put beside the ordinary ones at once. */
const AT_ONCE = process.env['SEED'] === undefined ? 10 : 1;

let server: Subject;
let client: Client;
let stage: Stage;

before(async () => {
  server = await Subject.start('server', ['apiserver']);
  const kubeconfig = String((await server.said)['kubeconfig']);
  client = createClient(await loadKubeconfig(kubeconfig));
  stage = new Stage({ server: 'embedded', embedded: server, client, start: () => startPrograms(kubeconfig) });
  await stage.open();
});
after(async () => {
  await stage.close();
  await client.close();
  await server.stop();
});

test(`${OBJECTS} random hostile objects: nothing ends, nothing stands still, and ordinary objects are served`, async (t) => {
  const objects = process.env['SEED'] === undefined ? OBJECTS : 1;
  let taken = 0;
  for (let at = 0; at < objects; at += AT_ONCE) {
    const rows = many(Math.min(AT_ONCE, objects - at), (n) => randomHostile(FIRST + at + n));
    const outcome = await stage.play(rows);
    taken += outcome.taken;
    t.diagnostic(outcome.figures);
    if (outcome.problems.length === 0) continue;
    // Which of them it was: they are played once more, one by one.
    const guilty: string[] = [];
    for (const row of rows) {
      const alone = await stage.play([row]).catch((error: unknown) => ({ problems: [String(error)] }));
      if (alone.problems.length > 0) guilty.push(`${row.why}: ${alone.problems.join('; ')}`);
    }
    const together = `together, ${rows.map(({ why }) => why).join(', ')}: ${outcome.problems.join('; ')}`;
    assert.fail([...(guilty.length > 0 ? guilty : ['none of them alone']), together].join('\n'));
  }
  t.diagnostic(`${taken} of ${objects} taken, from SEED=${FIRST} on`);
  assert.ok(taken >= objects / 4, `${taken} of ${objects} objects were taken`);
});
