import { node, pod } from '../../builders.ts';
import { newNode, noNode, testHints } from './hint-table.ts';

testHints({
  Extender: [{ why: 'anything happens', pod: pod('a'), event: noNode(node('n')), yes: true }],
  SchedulingGates: [{ why: 'anything happens', pod: pod('a'), event: newNode(node('n')), yes: false }],
  DynamicResources: [{ why: 'anything happens', pod: pod('a'), event: newNode(node('n')), yes: false }],
});
