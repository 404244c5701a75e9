import assert from 'node:assert/strict';
import type { Stage } from './stage.ts';
import { story, type Story } from '../story.ts';

/** Which pods come and go while `act` lasts: `-` for gone, `+` for made, in their order. */
async function course(s: Stage, act: () => Promise<unknown>): Promise<string> {
  const from = s.events.length;
  await act();
  return s.events
    .slice(from)
    .map((event) => event.replace('made web-', '+').replace('gone web-', '-'))
    .join(' ');
}

/** What a kube-controller-manager does not know: our annotations. */
export const extensions: readonly Story<Stage>[] = [
  story('paused', async (s) => {
    await s.running();
    await s.annotate({ paused: 'true' });
    await s.image('app:2');
    await s.shows({ replicas: 3, updated: 0 });
    await s.scale(4);
    await s.shows({ replicas: 4, updated: 1, ready: 4 });
    await s.replacePod(s.pod(0));
    await s.shows({ replicas: 4, updated: 2, ready: 4 }); // one that was gone comes back of the present template
    assert.equal(await course(s, () => s.annotate({ paused: null }).then(() => s.rolledOut())), '-2 +2 -1 +1');
  }),
  story('a-place-is-reserved', async (s) => {
    await s.running();
    const reserved = await course(s, () => s.annotate({ 'reserve-ordinals': '1' }).then(() => s.quiet()));
    assert.equal(reserved, '+3 -1', 'another is filled first');
    await s.rolledOut();
    assert.equal(await course(s, () => s.annotate({ 'reserve-ordinals': null }).then(() => s.quiet())), '+1 -3');
    await s.rolledOut();
  }),
  story('two-billion-replicas-stop-nobody-else', async (s) => {
    const annotations = { 'dkc.dev/expand-claims': 'true' };
    await s.create({ name: 'huge', replicas: 2 ** 31 - 1, annotations, claims: ['data'], image: 'hollow/unready:1' });
    await s.running({ replicas: 2 });
    await s.reported('TooManyReplicas');
  }),
];
