import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  decodeBinding,
  decodeFilter,
  decodePreempt,
  decodePriorities,
  encodeBinding,
  encodeCandidates,
  encodeNodes,
} from '../../../../scheduler/extenders/protocol.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { node, pod } from '../builders.ts';

const asking = pod('shop/p').uid('uid-p').build();
const nodes = ['a', 'b'].map((name) => node(name).build());
const victim = podInfoOf(pod('shop/v').uid('uid-v').on('a').build());
const candidates = [{ node: 'a', victims: [victim], violations: 1 }];

const encoded: { why: string; text: string; says: unknown }[] = [
  {
    why: 'nodes as objects',
    text: encodeNodes(asking, nodes, false),
    says: { Pod: asking, Nodes: { metadata: {}, items: nodes }, NodeNames: null },
  },
  { why: 'nodes by name', text: encodeNodes(asking, nodes, true), says: { Pod: asking, Nodes: null, NodeNames: ['a', 'b'] } },
  { why: 'no nodes at all', text: encodeNodes(asking, [], true), says: { Pod: asking, Nodes: null, NodeNames: [] } },
  {
    why: 'a binding',
    text: encodeBinding(podInfoOf(asking), 'a'),
    says: { PodName: 'p', PodNamespace: 'shop', PodUID: 'uid-p', Node: 'a' },
  },
  {
    why: 'candidates with their victims',
    text: encodeCandidates(asking, candidates, false),
    says: { Pod: asking, NodeNameToVictims: { a: { Pods: [victim.pod], NumPDBViolations: 1 } }, NodeNameToMetaVictims: null },
  },
  {
    why: 'candidates with their victims by uid',
    text: encodeCandidates(asking, candidates, true),
    says: { Pod: asking, NodeNameToVictims: null, NodeNameToMetaVictims: { a: { Pods: [{ UID: 'uid-v' }], NumPDBViolations: 1 } } },
  },
];

for (const { why, text, says } of encoded) test(`an extender is told ${why}`, () => assert.deepEqual(JSON.parse(text), says));

const filter = (answer: unknown): unknown => {
  const { failed, unresolvable, ...lists } = decodeFilter(answer);
  return { ...lists, failed: Object.fromEntries(failed), unresolvable: Object.fromEntries(unresolvable) };
};
const preempt = (answer: unknown): unknown => Object.fromEntries(decodePreempt(answer));
const nothing = { nodes: undefined, nodeNames: undefined, failed: {}, unresolvable: {}, error: '' };

const row = (read: (answer: unknown) => unknown, why: string, answer: unknown, says: unknown) => ({ read, why, answer, says });
const decoded = [
  row(filter, 'nothing', {}, nothing),
  row(filter, 'null', null, nothing),
  row(filter, 'nulls', { Nodes: null, NodeNames: null, FailedNodes: null, FailedAndUnresolvableNodes: null, Error: null }, nothing),
  row(
    filter,
    'everything, as it is written today',
    {
      Nodes: { metadata: {}, items: [{ metadata: { name: 'a' } }] },
      NodeNames: ['b'],
      FailedNodes: { c: 'full' },
      FailedAndUnresolvableNodes: { d: 'gone' },
      Error: 'x',
    },
    { nodes: ['a'], nodeNames: ['b'], failed: { c: 'full' }, unresolvable: { d: 'gone' }, error: 'x' },
  ),
  row(
    filter,
    'everything, as it was written once',
    {
      nodes: { items: [{ metadata: { name: 'a' } }] },
      nodenames: ['b'],
      failedNodes: { c: 'full' },
      failedAndUnresolvableNodes: { d: 'gone' },
      error: 'x',
    },
    { nodes: ['a'], nodeNames: ['b'], failed: { c: 'full' }, unresolvable: { d: 'gone' }, error: 'x' },
  ),
  row(filter, 'fields that scream', { NODENAMES: ['b'], ERROR: 'x' }, { ...nothing, nodeNames: ['b'], error: 'x' }),
  row(filter, 'the exact name before another', { nodenames: ['a'], NodeNames: ['b'] }, { ...nothing, nodeNames: ['b'] }),
  row(filter, 'an empty list as one', { NodeNames: [] }, { ...nothing, nodeNames: [] }),
  row(filter, 'a list of nodes without items as an empty one', { Nodes: {} }, { ...nothing, nodes: [] }),
  row(filter, 'names of nodes in their case', { FailedNodes: { A: 'x', a: 'y' } }, { ...nothing, failed: { A: 'x', a: 'y' } }),
  row(filter, 'a node called like a thing of the language', JSON.parse('{"FailedNodes":{"constructor":"x"}}'), {
    ...nothing,
    failed: { constructor: 'x' },
  }),
  row(filter, 'fields that nobody knows', { Colour: 'red' }, nothing),
  row(
    decodePriorities,
    'scores',
    [
      { Host: 'a', Score: 10 },
      { host: 'b', score: 3 },
    ],
    [
      { host: 'a', score: 10 },
      { host: 'b', score: 3 },
    ],
  ),
  row(decodePriorities, 'a score that is not said as 0', [{ Host: 'a' }], [{ host: 'a', score: 0 }]),
  row(decodePriorities, 'no scores', null, []),
  row(decodeBinding, 'a binding', { Error: '' }, ''),
  row(decodeBinding, 'a binding without a word', {}, ''),
  row(decodeBinding, 'a binding that failed', { error: 'no' }, 'no'),
  row(
    preempt,
    'victims',
    { NodeNameToMetaVictims: { a: { Pods: [{ UID: 'u' }], NumPDBViolations: 2 } } },
    { a: { uids: ['u'], violations: 2 } },
  ),
  row(
    preempt,
    'victims, as it was written once',
    { nodeNameToMetaVictims: { a: { pods: [{ uid: 'u' }], numPDBViolations: 2 } } },
    { a: { uids: ['u'], violations: 2 } },
  ),
  row(
    preempt,
    'a node without victims',
    { NodeNameToMetaVictims: { a: null, b: {} } },
    { a: { uids: [], violations: 0 }, b: { uids: [], violations: 0 } },
  ),
  row(preempt, 'no victims', {}, {}),
];

for (const { why, read, answer, says } of decoded)
  test(`an extender says ${why}`, () => assert.deepEqual(JSON.parse(JSON.stringify(read(answer))), JSON.parse(JSON.stringify(says))));

const refuses = (read: (answer: unknown) => unknown, answer: unknown, says: string) => ({ read, answer, says });
const refused = [
  refuses(filter, [], 'the answer must be an object, not a list'),
  refuses(filter, 'no', 'the answer must be an object, not a string'),
  refuses(filter, { Nodes: [] }, 'Nodes must be an object, not a list'),
  refuses(filter, { Nodes: { items: {} } }, 'Nodes.items must be a list, not an object'),
  refuses(filter, { Nodes: { items: [null] } }, 'Nodes.items[0].metadata.name must be a string that is not empty, not absent'),
  refuses(filter, { nodenames: 'a' }, 'NodeNames must be a list, not a string'),
  refuses(filter, { NodeNames: ['a', 1] }, 'NodeNames[1] must be a string, not the number 1'),
  refuses(filter, { NodeNames: [''] }, 'NodeNames[0] must be a string that is not empty, not an empty one'),
  refuses(filter, { FailedNodes: ['a'] }, 'FailedNodes must be an object, not a list'),
  refuses(filter, { FailedNodes: { a: 1 } }, 'FailedNodes["a"] must be a string, not the number 1'),
  refuses(filter, { FailedAndUnresolvableNodes: { a: {} } }, 'FailedAndUnresolvableNodes["a"] must be a string, not an object'),
  refuses(filter, { Error: true }, 'Error must be a string, not a boolean'),
  refuses(decodePriorities, {}, 'the answer must be a list, not an object'),
  refuses(decodePriorities, [{ Score: 1 }], '[0].Host must be a string that is not empty, not absent'),
  refuses(decodePriorities, [{ Host: 'a', Score: '1' }], '[0].Score must be a whole number of 32 bits, not a string'),
  refuses(decodePriorities, [{ Host: 'a', Score: 1.5 }], '[0].Score must be a whole number of 32 bits, not the number 1.5'),
  refuses(decodePriorities, [{ Host: 'a', Score: 1e300 }], '[0].Score must be a whole number of 32 bits, not the number 1e+300'),
  refuses(decodeBinding, { Error: {} }, 'Error must be a string, not an object'),
  refuses(preempt, { NodeNameToMetaVictims: [] }, 'NodeNameToMetaVictims must be an object, not a list'),
  refuses(
    preempt,
    { NodeNameToMetaVictims: { a: { Pods: [{}] } } },
    'NodeNameToMetaVictims["a"].Pods[0].UID must be a string that is not empty, not absent',
  ),
  refuses(
    preempt,
    { NodeNameToMetaVictims: { a: { NumPDBViolations: -1 } } },
    'NodeNameToMetaVictims["a"].NumPDBViolations must be 0 or more, not the number -1',
  ),
];

for (const { read, answer, says } of refused)
  test(`an answer is refused: ${says}`, () => assert.throws(() => read(answer), { name: 'AnswerError', message: says }));
