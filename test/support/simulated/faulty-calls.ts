import { BrokenConnection } from '../../../kube/client/connection.ts';
import { ApiError, TransportError, type Call } from '../../../kube/client/errors.ts';
import { controllerOf } from '../../../kube/controller/owners.ts';
import type { SeenCall } from './intercepted.ts';
import type { SimWorld } from './sim-world.ts';

/** One way in which a call goes wrong. */
export interface FaultKind {
  name: string;
  /** Whether a server could do that to this call. */
  befalls(call: SeenCall): boolean;
  do(call: SeenCall, pass: () => Promise<unknown>, world: SimWorld): Promise<unknown>;
  /** Pods that have to be made once more for it. @default 0 */
  costs?: number;
  /** Faults of one class look the same to a controller: whether the call may have taken effect is what it can tell, and whether it did. */
  class: 'refused' | 'perhaps, and was not' | 'perhaps, and was' | 'changed' | 'gone' | 'conflict';
}

const any = (): boolean => true;
const at = ({ verb, resource, key }: SeenCall): Call => ({ method: verb.toUpperCase(), path: `/${resource}/${key}`, host: 'local' });

function says(name: string, code: number, reason: string, of: Pick<FaultKind, 'befalls' | 'class'>, details = {}): FaultKind {
  const refuse = async (call: SeenCall): Promise<never> => {
    throw new ApiError(at(call), { code, reason, message: 'the test says so', ...details });
  };
  return { name, ...of, do: refuse };
}

const breaks = (name: string, of: FaultKind['class'], act: FaultKind['do']): FaultKind => ({ name, class: of, befalls: any, do: act });

function cut(call: SeenCall, reached: 'never' | 'perhaps'): TransportError {
  const cause = new BrokenConnection(reached, 'the test cut it');
  return new TransportError(at(call), reached === 'never' ? 'unreachable' : 'cut', { hint: 'the connection broke', cause });
}

const timeout = (call: SeenCall): TransportError => new TransportError(at(call), 'timeout', { hint: 'no answer within 30 s' });

/** The client gives up after so long. */
const PATIENCE = 30_000;
/** A request that nobody waits for any more is still on its way for so long: less than the controller looks out for what it may have made. */
const LATE = 5_000;

const writesOnto = ({ verb }: SeenCall): boolean => verb === 'replace' || verb === 'patch' || verb === 'delete';
/** Sets are the stories' own. */
const isOwned = ({ resource }: SeenCall): boolean => resource === 'pods' || resource === 'controllerrevisions';

const core = new Set(['pods', 'persistentvolumeclaims']);
const kindOf = (resource: string): string => (core.has(resource) ? `/${resource}` : `apps/${resource.replace(/\/status$/, '')}`);

export const faultKinds: readonly FaultKind[] = [
  says('500', 500, 'InternalError', { befalls: any, class: 'perhaps, and was not' }),
  says('409, out of the server itself', 409, 'Conflict', { befalls: writesOnto, class: 'conflict' }),
  {
    name: '409, for somebody else was quicker',
    class: 'changed',
    befalls: ({ verb }) => verb === 'replace',
    async do({ resource, key }, pass, { api }) {
      const { storage } = api.hooks;
      const there = storage.get(kindOf(resource), key);
      if (there !== undefined)
        storage.put(kindOf(resource), key, {
          ...there,
          metadata: { ...there.metadata, annotations: { ...there.metadata.annotations, by: 'another' } },
        });
      return pass();
    },
  },
  {
    name: '404, for somebody else took it away',
    class: 'gone',
    befalls: (call) => isOwned(call) && (writesOnto(call) || call.verb === 'get'),
    async do({ resource, key }, pass, { api }) {
      const { storage } = api.hooks;
      const there = storage.get(kindOf(resource), key);
      if (there !== undefined && controllerOf(there) !== undefined) storage.remove(kindOf(resource), key);
      return pass();
    },
    costs: 1,
  },
  says('429', 429, 'TooManyRequests', { befalls: any, class: 'refused' }, { retryAfterMs: 1_000 }),
  breaks('a cut before it was sent', 'refused', async (call) => {
    throw cut(call, 'never');
  }),
  breaks('a cut before the server saw it', 'perhaps, and was not', async (call) => {
    throw cut(call, 'perhaps');
  }),
  breaks('a cut after it took effect', 'perhaps, and was', async (call, pass) => {
    await pass();
    throw cut(call, 'perhaps');
  }),
  breaks('no answer in time', 'perhaps, and was not', async (call, _, { clock }) => {
    await clock.sleep(PATIENCE, call.signal);
    throw timeout(call);
  }),
  breaks('no answer in time, and an effect after that', 'perhaps, and was', async (call, pass, { clock }) => {
    await clock.sleep(PATIENCE, call.signal);
    void clock
      .sleep(LATE)
      .then(pass)
      .catch(() => {});
    throw timeout(call);
  }),
];
