import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Cluster, ClusterError, interleaveZones } from '../../../../scheduler/cache/cluster.ts';
import { Topologies } from '../../../../scheduler/cache/topology.ts';
import { podInfoOf } from '../../../../scheduler/pod/pod-info.ts';
import { node, pod } from '../builders.ts';

const web = (): ReturnType<typeof pod> => pod('web').cpu('1').memory('1Gi');

function clusterOf(...names: string[]): Cluster {
  const cluster = new Cluster();
  for (const name of names) cluster.setNode(node(name).build());
  return cluster;
}

test('a pod is not assumed twice, nor on a node that does not exist', () => {
  const cluster = clusterOf('a');
  const info = podInfoOf(web().build());
  assert.throws(() => cluster.assume(info, 'gone'), ClusterError);
  cluster.assume(info, 'a');
  assert.throws(() => cluster.assume(info, 'a'), ClusterError);
});

test('pods are unconfirmed that were bound a while ago and that the watch has not shown', () => {
  const cluster = clusterOf('a');
  cluster.assume(podInfoOf(web().build()), 'a');
  assert.deepEqual(cluster.unconfirmed(10_000), [], 'binding is under way');
  cluster.bound('uid-default-web', 5_000);
  assert.deepEqual(cluster.unconfirmed(4_999), []);
  assert.equal(cluster.unconfirmed(5_000).length, 1);
  cluster.addPod(podInfoOf(web().on('a').build()));
  assert.deepEqual(cluster.unconfirmed(10_000), []);
});

test('setNode returns the aspects that changed: none for a heartbeat', () => {
  const cluster = clusterOf('a');
  const { version } = cluster;
  const again = node('a').build();
  again.metadata.resourceVersion = '2';
  const change = cluster.setNode(again);
  assert.ok(change !== 'added' && change.size === 0);
  assert.equal(cluster.version, version);
  const told = (changed: ReturnType<typeof node>) => [...new Set(cluster.setNode(changed.build()))];
  assert.deepEqual(told(node('a').cordoned()), ['taints']);
  assert.deepEqual(told(node('a').cordoned().declares('F')), ['features']);
  assert.ok(cluster.version > version);
});

test('nodes are listed zone by zone in turn, and a zone without further nodes is skipped', () => {
  const inZones = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'].map((name) => ({ name, zone: name.slice(0, 1) }));
  const order = interleaveZones(inZones).map(({ name }) => name);
  assert.deepEqual(order, ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

test('domain numbers of deleted nodes are used again', () => {
  const topologies = new Topologies();
  const hostname = topologies.take('hostname');
  for (let n = 0; n < 10_000; n++) topologies.changed(n % 10, { hostname: `node-${n}` });
  assert.ok(hostname.count <= 11, `${hostname.count} numbers for 10 nodes`);
  assert.equal(new Set(hostname.domains.slice(0, 10)).size, 10);
  topologies.changed(500, { hostname: 'far' });
  assert.ok((hostname.domains[500] ?? -1) >= 0, 'a slot beyond the first 64 has a place');
});
