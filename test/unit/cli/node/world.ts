import type { TestContext } from 'node:test';
import type { Source } from '../../../../agent/checkpoint/source.ts';
import { assignedAndTrusted, kubeletYaml, uidB, type NodeOnDisk } from '../../../support/node-on-disk.ts';

export type World = NodeOnDisk & { trusted: Source; assigned: Source; other: Source };

/** Three checkpoints: web 1 is trusted, web 2 is assigned and runs, db 3 has two files and was never trusted. */
export async function threeCheckpoints(t: TestContext): Promise<World> {
  const node = await assignedAndTrusted(t);
  const other = await node.save('3', { uid: uidB, name: 'db', files: { kubelet: kubeletYaml(3), 'ca.pem': 'CERT' } });
  node.later(7200_000);
  return { ...node, other };
}
