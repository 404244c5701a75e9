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

const interests: { why: string; managed: (typeof gpu)[]; asking: Pod; is: boolean }[] = [
  { why: 'every pod where it manages nothing', managed: [], asking: pod('p').build(), is: true },
  { why: 'no pod without its resource', managed: [gpu], asking: pod('p').cpu('1').build(), is: false },
  {
    why: 'a pod that asks for it',
    managed: [gpu],
    asking: withContainer('containers', { requests: { 'example.com/gpu': '1' } }),
    is: true,
  },
  {
    why: 'a pod that is limited to it',
    managed: [gpu],
    asking: withContainer('containers', { limits: { 'example.com/gpu': '1' } }),
    is: true,
  },
  {
    why: 'a pod that asks for it first',
    managed: [gpu],
    asking: withContainer('initContainers', { requests: { 'example.com/gpu': '1' } }),
    is: true,
  },
  {
    why: 'a pod that asks for one of several',
    managed: [gpu, fpga],
    asking: withContainer('containers', { requests: { 'example.com/fpga': '1' } }),
    is: true,
  },
  {
    why: 'no pod that asks for something like it',
    managed: [gpu],
    asking: withContainer('containers', { requests: { 'example.com/gpus': '1' } }),
    is: false,
  },
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
