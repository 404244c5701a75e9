import type { PodSpec } from 'kubernetes-types/core/v1.js';
import { node, pod } from '../../builders.ts';
import { changed, fails, helps, newNode, noNode, testHints } from './hint-table.ts';

const sharing = pod('a').spec({ hostNetwork: true, hostUsers: false } as PodSpec);

testHints({
  Extender: [helps('anything happens', pod('a'), noNode(node('n')))],
  SchedulingGates: [fails('anything happens', pod('a'), newNode(node('n')))],
  NodeDeclaredFeatures: [
    helps('a node declares them', sharing, changed('features', node('n'), node('n').declares('UserNamespacesHostNetworkSupport'))),
    helps('a node that declares them is new', sharing, newNode(node('n').declares('UserNamespacesHostNetworkSupport'))),
    fails('a node that does not is new', sharing, newNode(node('n').declares('Other'))),
    fails('a node declares others', sharing, changed('features', node('n'), node('n').declares('Other'))),
  ],
  DynamicResources: [fails('anything happens', pod('a'), newNode(node('n')))],
});
