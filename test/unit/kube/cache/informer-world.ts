import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type KubeObject, pods } from '../../../../kube/api/object.ts';
import type { Handlers } from '../../../../kube/cache/contract.ts';
import { SharedInformer } from '../../../../kube/cache/shared-informer.ts';
import type { InformerOptions } from '../../../../kube/cache/shared-informer.ts';
import { FakeClock, atRest } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import { written, ScriptedApi } from './scripted-api.ts';

/** A handler that writes down what it is told. */
export function diary(): { told: string[]; handlers: Handlers<KubeObject> } {
  const told: string[] = [];
  return {
    told,
    handlers: {
      added: (object, initial) => told.push(`${initial ? 'there' : 'added'} ${written(object)}`),
      updated: (before, after) => told.push(`updated ${written(before)} ${written(after)}`),
      deleted: (last, unseen) => told.push(`deleted ${written(last)}${unseen ? ' unseen' : ''}`),
    },
  };
}

/** A cache on a script that does not run yet. */
export function begin(api: ScriptedApi, options: Partial<InformerOptions> = {}) {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  const usual = { resource: pods, client: api.client, clock, random: () => 0, log, streams: false };
  return { clock, informer: new SharedInformer<KubeObject>({ ...usual, ...options }), lines, fields };
}

/** A cache on a script, until the test ends. */
export async function run(t: TestContext, steps: string[], options: Partial<InformerOptions> = {}) {
  const api = new ScriptedApi(...steps);
  const { clock, informer, lines, fields } = begin(api, { frozen: true, ...options });
  const { told, handlers } = diary();
  informer.addHandlers('diary', handlers);
  runs(t, informer, clock);
  await atRest();
  return { api, clock, informer, told, lines, fields };
}

/** Runs a cache until the test ends. @param clock - on which nobody may sleep then @returns what aborts at the end */
export function runs(t: TestContext, cache: { run(signal: AbortSignal): Promise<void> }, clock?: FakeClock): AbortSignal {
  const ending = new AbortController();
  const running = cache.run(ending.signal);
  t.after(async () => {
    ending.abort();
    await running;
    assert.equal(clock?.sleepers ?? 0, 0, 'somebody still waits for time to pass');
  });
  return ending.signal;
}
