import { node, pod } from '../../builders.ts';
import { changed, fails, helps, newNode, noNode, testHints } from './hint-table.ts';

const sharing = pod('a').spec({ hostNetwork: true, hostUsers: false });

testHints({
  Extender: [helps('anything happens', pod('a'), noNode(node('n')))],
  SchedulingGates: [fails('anything happens', pod('a'), newNode(node('n')))],
  NodeDeclaredFeatures: [
    helps('a node declares them', sharing, changed('features', node('n'), node('n').declares('UserNamespacesHostNetworkSupport'))),
    helps('a node that declares them is new', sharing, newNode(node('n').declares('UserNamespacesHostNetworkSupport'))),
    fails('a node that does not is new', sharing, newNode(node('n').declares('Other'))),
    fails('a node declares others', sharing, changed('features', node('n'), node('n').declares('Other'))),
  ],
  DynamicResources: [
    fails('anything happens to a pod with claims', pod('a').spec({ resourceClaims: [{ name: 'c' }] }), newNode(node('n'))),
    helps('a node has the device from a plugin', pod('a').asks('x/gpu', '1'), newNode(node('n').has('x/gpu', '1'))),
    fails('a node has others', pod('a').asks('x/gpu', '1'), newNode(node('n').has('x/npu', '1'))),
    helps(
      'a node gets the device',
      pod('a').asks('x/gpu', '1'),
      changed('allocatable', node('n').has('x/gpu', '0'), node('n').has('x/gpu', '1')),
    ),
  ],
  GangScheduling: [fails('anything happens', pod('a'), newNode(node('n')))],
});
