import { ActionError } from '../../base/errors.ts';
import { isForbidden, isNotFound } from '../client/errors.ts';

export type LeaseVerb = 'get' | 'create' | 'update';

/** What a person can do about a lease that cannot be read or written. `error` itself when it says so already. */
export function leaseTrouble(verb: LeaseVerb, { namespace, name }: { namespace: string; name: string }, error: unknown): unknown {
  const trouble = (hint: string): ActionError => new ActionError(`${verb} lease`, `${namespace}/${name}`, { hint, cause: error });
  if (isForbidden(error)) {
    return trouble(`the right to ${verb} leases of coordination.k8s.io in namespace ${namespace} is missing; grant get, create and update`);
  }
  if (verb === 'create' && isNotFound(error))
    return trouble(`there is no namespace ${namespace}; create it, or name another one for the lease`);
  return error;
}
