import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Executor } from '../../../../agent/sync/execute.ts';
import type { Store } from '../../../../agent/store/store.ts';
import { realClock } from '../../../../base/clock.ts';
import { silentLog } from '../../../../base/log.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import { source } from '../../../support/builders.ts';
import { localSituation } from '../../../support/situations.ts';

/** An executor whose exit never comes, as under a long --restart-spread. */
function leaving({ exitWaits = true } = {}) {
  const messages: unknown[] = [];
  const exits: string[] = [];
  const configState = localSituation();
  const executor = new Executor({
    store: {} as Store, // no step here can use it
    configState,
    client: {
      create: async <T extends KubeObject>(_resource: unknown, object: T): Promise<T> => {
        messages.push(object['message']);
        return object;
      },
    },
    nodeName: 'node-a',
    clock: realClock,
    random: () => 0,
    log: silentLog,
    onCheckpoint: () => {},
    exitWaits,
    exit: (why) => {
      exits.push(why);
      return new Promise(() => {});
    },
  });
  return { executor, configState, messages, exits };
}

test('an exit that is put off does not keep the next assignment from being looked at', async () => {
  const { executor, exits } = leaving();
  await executor.run([{ do: 'exit', to: source('web@1') }]);
  await executor.run([{ do: 'exit', to: null }]);
  assert.equal(exits.length, 2);
});

test('while an exit is put off, each destination is announced once', async () => {
  const { executor, messages } = leaving();
  for (const to of [source('web@1'), source('web@1'), null, null]) await executor.run([{ do: 'exit', to }]);
  assert.equal(messages.length, 2);
  assert.match(String(messages[0]), /ResourceVersion: 1/);
  assert.equal(messages[1], 'Kubelet restarting to use local config');
});

test('what a look changes is shown at its end, and before an exit only where that is put off', async () => {
  const steps = [{ do: 'report', error: 'e', detail: '' } as const, { do: 'exit', to: null } as const];
  for (const exitWaits of [true, false]) {
    const { executor, configState } = leaving({ exitWaits });
    await executor.run(steps);
    assert.equal(configState.shown.error, exitWaits ? 'e' : null);
  }
  const { executor, configState } = leaving({ exitWaits: false });
  await executor.run(steps.slice(0, 1));
  assert.equal(configState.shown.error, 'e');
});

test('a look that fails shows what it has done', async () => {
  const { executor, configState } = leaving({ exitWaits: false });
  await assert.rejects(executor.run([{ do: 'report', error: 'e', detail: '' }, { do: 'set-last-known-good', to: null }, { do: 'exit', to: null }])); // prettier-ignore
  assert.equal(configState.shown.error, 'e');
});
