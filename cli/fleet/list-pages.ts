import { ActionError } from '../../base/errors.ts';
import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';

/** Objects in each page. */
const PAGE = 500;

/** Calls `onEach` for every object of a kind, page by page. @throws ActionError when the server keeps returning the same page; ApiError, TransportError */
export async function listPages<T extends KubeObject>(
  client: Pick<Client, 'listEach'>,
  resource: Resource,
  selection: { namespace?: string; labelSelector?: string },
  onEach: (object: T) => void,
  signal: AbortSignal,
): Promise<void> {
  let next: string | undefined;
  do {
    const page = await client.listEach<T>(resource, { limit: PAGE, ...(next ? { continue: next } : {}), ...selection }, onEach, { signal });
    if (page.continue && page.continue === next)
      throw new ActionError('list', resource.resource, { hint: 'the API server keeps returning the same continue token' });
    next = page.continue;
  } while (next);
}
