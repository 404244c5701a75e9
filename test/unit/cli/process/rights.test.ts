import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { RightsCheck, distinctRights, rightsText, type Right } from '../../../../cli/process/check-rights.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';
import type { Client } from '../../../../kube/client/client.ts';

const lease = { namespace: 'kube-system', name: 'dkc-controllers' };
const right = (verb: string, resource: string, over: Partial<Right> = {}): Right => ({ verb, group: '', resource, namespace: '', vital: true, ...over }); // prettier-ignore

const texts = [
  { why: 'nothing', rights: [], says: '' },
  { why: 'verbs of one kind', rights: [right('list', 'pods'), right('watch', 'pods')], says: 'list, watch pods' },
  {
    why: 'kinds of groups, subresources and names',
    rights: [
      right('create', 'pods', { namespace: 'a' }),
      right('update', 'daemonsets', { group: 'apps', subresource: 'status' }),
      right('get', 'leases', { group: 'coordination.k8s.io', ...lease }),
    ],
    says: 'create pods in namespace a; update daemonsets.apps/status; get leases.coordination.k8s.io dkc-controllers in namespace kube-system',
  },
];
for (const { why, rights, says } of texts) test(`rights are told as ${why}`, () => assert.equal(rightsText(rights), says));

test('a right is asked for once, and is vital where anybody has it so', () => {
  const either = right('list', 'pods', { vital: false });
  const vital = right('list', 'pods');
  const nodes = right('list', 'nodes');
  for (const both of [[either, vital], [vital, either]]) assert.deepEqual(distinctRights([...both, nodes]), [vital, nodes]); // prettier-ignore
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
  const over = new AbortController();
  const rightsCheck = new RightsCheck(rights, { client, clock, log });
  let ended = false;
  const running = rightsCheck.run(over.signal).then(() => (ended = true));
  const { check } = rightsCheck;
  const stop = async (): Promise<void> => {
    over.abort();
    await running;
  };
  return { clock, lines, fields, check, calls: () => calls, ended: () => ended, stop };
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
  assert.deepEqual([check.problem(), check.detail?.(), ended()], [undefined, 'no missing rights known', true]);
});

test('a right that is not vital is told and fails nothing', async () => {
  const { fields, check, stop } = bench((what) => what !== 'create events');
  await turn();
  assert.deepEqual(fields, [{ missing: 'create events', vital: false }]);
  assert.deepEqual([check.problem(), check.detail?.()], [undefined, 'missing: create events']);
  await stop();
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

test('it ends when it is asked to, and says nothing of what it was asking', async () => {
  const { lines, stop } = bench(() => false);
  await stop();
  assert.deepEqual(lines.filter((line) => line.startsWith('debug')), []); // prettier-ignore
});
