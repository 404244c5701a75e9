import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { RightsCheck, type Right } from '../../../../cli/process/check-rights.ts';
import { logFormat } from '../../../../cli/process/run.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { Client } from '../../../../kube/client/client.ts';

const right = (verb: string, resource: string, over: Partial<Right> = {}): Right => ({ verb, group: '', resource, namespace: '', vital: true, ...over }); // prettier-ignore

test('the log is text at a terminal, of journald under systemd, and JSON for a collector', () => {
  const under = { JOURNAL_STREAM: '8:1' };
  assert.deepEqual([logFormat('text', {}), logFormat('text', under), logFormat('json', under)], ['text', 'journald', 'json']);
});

const call = { method: 'POST', path: '/x', host: 'h' };
const rights = [right('create', 'pods'), right('create', 'events', { vital: false })];

function bench(answer: (verbAndKind: string) => boolean | Error) {
  const clock = new FakeClock();
  const { log, lines, fields } = recordedLog();
  let calls = 0;
  const client = {
    create: async (_: unknown, review: { spec: { resourceAttributes: Right } }) => {
      calls += 1;
      const { verb, resource } = review.spec.resourceAttributes;
      const allowed = answer(`${verb} ${resource}`);
      if (allowed instanceof Error) throw allowed;
      return { metadata: {}, status: { allowed } };
    },
  } as unknown as Pick<Client, 'create'>;
  const rightsCheck = new RightsCheck(rights, { client, clock, log });
  let ended = false;
  void rightsCheck.run(new AbortController().signal).then(() => (ended = true));
  return { clock, lines, fields, check: rightsCheck.check, calls: () => calls, ended: () => ended };
}

test('a missing right is told once, fails the check, and is noticed when it is given', async () => {
  let isGiven = false;
  const { clock, lines, fields, check, ended } = bench((what) => isGiven || what !== 'create pods');
  await turn();
  await clock.advance(20_000);
  assert.deepEqual([lines, fields], [['warn: missing rights'], [{ missing: 'create pods', vital: true }]]);
  assert.deepEqual([check.problem(), check.detail?.()], ['missing: create pods', 'missing: create pods']);
  isGiven = true;
  await clock.advance(5_000);
  assert.deepEqual(lines.slice(1), ['info: all rights granted']);
  assert.deepEqual([check.problem(), check.detail?.(), ended()], [undefined, 'no missing rights found', true]);
});

test('a server that is away is asked again', async () => {
  let isAway = true;
  const { clock, lines, check, ended } = bench(() => (isAway ? new TransportError(call, 'unreachable', { hint: 'refused' }) : true));
  await turn();
  assert.deepEqual([check.problem(), lines.filter((line) => !line.startsWith('debug'))], [undefined, []]);
  isAway = false;
  await clock.advance(5_000);
  assert.equal(ended(), true);
});

test('a server that does not answer such questions is left alone', async () => {
  const { clock, check, calls, ended } = bench(() => new ApiError(call, { code: 403, reason: 'Forbidden', message: 'no' }));
  await turn();
  await clock.advance(60_000);
  assert.deepEqual([check.problem(), calls(), ended()], [undefined, 2, true]);
});
