import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inKindWords } from '../../../../cli/dispatch.ts';
import { readRef } from '../../../../cli/explain/find-object.ts';
import { connectFlags } from '../../../../cli/connect/flags.ts';
import { Args } from '../../../../cli/args/args.ts';
import { runCli } from '../../../support/cli-context.ts';

const cases: { typed: string; is: string }[] = [
  { typed: 'why ds web', is: 'why daemonset web' },
  { typed: 'why sts/db -o json', is: 'why statefulset db -o json' },
  { typed: 'why po/big -n shop', is: 'why pod big -n shop' },
  { typed: 'why -n shop pod big', is: 'why pod -n shop big' },
  { typed: 'why --as bob --request-timeout 5 sts db', is: 'why statefulset --as bob --request-timeout 5 db' },
  { typed: 'why --namespace=shop --context dev sts/db', is: 'why statefulset --namespace=shop --context dev db' },
  { typed: 'why maxPods', is: 'why maxPods' },
  { typed: 'why', is: 'why' },
];
for (const { typed, is } of cases) test(`dkc ${typed} is dkc ${is}`, () => assert.deepEqual(inKindWords(typed.split(' ')), is.split(' ')));

const refs: { why: string; name: string; flag?: string; context?: string; is: string }[] = [
  { why: 'both in one', name: 'shop/db', context: 'dev', is: 'shop/db' },
  { why: 'by nothing', name: 'db', is: 'default/db' },
];
for (const { why, name, flag, context, is } of refs)
  test(`a namespace that is named ${why}`, async () => {
    const flags = new Map<string, string | undefined>(connectFlags.map(({ name }) => [name, undefined]));
    flags.set('namespace', flag);
    const args = new Args(flags, new Map([['name', [name]]]));
    const found = await readRef({ path: (text) => text, namespaceOf: async () => context }, args, 'why pod');
    assert.equal(`${found.namespace}/${found.name}`, is);
  });

test('an object of another kind is no field of a kubelet', async () => {
  const { code, stderr } = await runCli(['why', 'deploy/web', '--agent-config=/nowhere/agent.yaml', '--kubelet-version=1.34.0']);
  assert.deepEqual([code, stderr.includes('has no field')], [2, false]);
});
