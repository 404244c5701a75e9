import { node, pod } from '../../builders.ts';
import { fails, helps, newNode, noNode, testHints } from './hint-table.ts';

testHints({
  Extender: [helps('anything happens', pod('a'), noNode(node('n')))],
  SchedulingGates: [fails('anything happens', pod('a'), newNode(node('n')))],
  DynamicResources: [fails('anything happens', pod('a'), newNode(node('n')))],
});
