import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inOrder, isInterested, urlOf } from '../../../../scheduler/extenders/protocol.ts';
import type { Pod } from '../../../../scheduler/types.ts';
import { pod } from '../builders.ts';
import { extenderConfig } from './extender-server.ts';

const gpu = { name: 'example.com/gpu', ignoredByScheduler: true };
const fpga = { name: 'example.com/fpga', ignoredByScheduler: false };
const withContainer = (where: 'containers' | 'initContainers', resources: object): Pod =>
  pod('p')
    .spec({ [where]: [{ name: 'one' }, { name: 'two', resources }] })
    .build();

const row = (why: string, is: boolean, managed: (typeof gpu)[], asking: Pod) => ({ why, is, managed, asking });
const interests = [
  row('every pod where it manages nothing', true, [], pod('p').build()),
  row('no pod without its resource', false, [gpu], pod('p').cpu('1').build()),
  row('a pod that asks for it', true, [gpu], withContainer('containers', { requests: { 'example.com/gpu': '1' } })),
  row('a pod that is limited to it', true, [gpu], withContainer('containers', { limits: { 'example.com/gpu': '1' } })),
  row('a pod that asks for it first', true, [gpu], withContainer('initContainers', { requests: { 'example.com/gpu': '1' } })),
  row('a pod that asks for one of several', true, [gpu, fpga], withContainer('containers', { requests: { 'example.com/fpga': '1' } })),
  row('no pod that asks for something like it', false, [gpu], withContainer('containers', { requests: { 'example.com/gpus': '1' } })),
];

for (const { why, managed, asking, is } of interests)
  test(`an extender is asked about ${why}`, () =>
    assert.equal(isInterested(extenderConfig('http://x', { managedResources: managed }), asking), is));

test('those that nothing depends on come last, the others stay in order', () => {
  const named = (urlPrefix: string, ignorable = false) => extenderConfig(urlPrefix, { ignorable });
  assert.deepEqual(
    inOrder([named('a', true), named('b'), named('c', true), named('d')]).map(({ urlPrefix }) => urlPrefix),
    ['b', 'd', 'a', 'c'],
  );
});

for (const prefix of ['http://x:1/v1', 'http://x:1/v1/', 'http://x:1/v1//'])
  test(`the verb follows ${prefix}`, () =>
    assert.equal(urlOf(extenderConfig(prefix, { bindVerb: 'bind-it' }), 'bind'), 'http://x:1/v1/bind-it'));
