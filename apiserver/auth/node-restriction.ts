import type { KubeObject } from '../../kube/api/object.ts';
import { changesConfigSource } from '../kinds/config-source.ts';
import { groupResource } from '../kinds/kind.ts';
import type { ServedKind } from '../kinds/kind.ts';
import { forbidden } from '../status-error.ts';
import { nodeOf } from './user.ts';
import type { User } from './user.ts';

/**
 * A node may not widen what it may read: it cannot point itself to a ConfigMap. Clearing the source is allowed.
 * @param old - undefined for a create
 * @throws StatusError 403
 */
export function restrictNode(user: User, served: ServedKind, object: KubeObject, old: KubeObject | undefined): void {
  const node = nodeOf(user);
  if (node === undefined || served.kind.resource !== 'nodes') return;
  const of = groupResource(served);
  const name = object.metadata.name ?? '';
  if (old === undefined && name !== node)
    throw forbidden(of, name, `node ${JSON.stringify(node)} is not allowed to modify node ${JSON.stringify(name)}`);
  if (!changesConfigSource(object, old ?? { metadata: {} })) return;
  // The words `create pods` are the real server's.
  const what = old === undefined ? 'create pods with a non-nil configSource' : 'update configSource to a new non-nil configSource';
  throw forbidden(of, name, `node ${JSON.stringify(node)} is not allowed to ${what}`);
}
