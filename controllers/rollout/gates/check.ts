import type { Clock, Millis } from '../../../base/clock.ts';
import { abortReason } from '../../../base/waiting.ts';
import { ActionError, describeError, errorCode, messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { type Client, servedResources } from '../../../kube/client/client.ts';
import { Deadline, DeadlineError } from '../../../kube/client/limits.ts';
import { ApiError, isNotFound } from '../../../kube/client/errors.ts';
import { type Gate, type GateResult, type HttpGet, type ObjectGate, type Reading, SERVERS_FLAG } from './contract.ts';
import { alertsQuery, boundedWhy, queryUrl, readAlerts, readObject, readPrometheus } from './readings.ts';
import type { JsonObject } from '../../../kube/api/json.ts';
import type { Resource } from '../../../kube/api/object.ts';

/** How long a gate may take, in ms. */
const GATE_TIMEOUT_MS: Millis = 10_000;

export interface GateContext {
  client: Pick<Client, 'get' | 'raw'>;
  http: HttpGet;
  kinds: Kinds;
  clock: Clock;
  log: Log;
}

/**
 * Checks all gates concurrently, each for at most 10 s. A gate that cannot be checked does not hold; the whole error goes to the log.
 * @param gates - valid by `gateProblems`
 * @returns a result for each, in their order
 * @throws the signal's reason once it aborted, and nothing else
 */
export async function checkGates(gates: readonly Gate[], context: GateContext, signal: AbortSignal): Promise<GateResult[]> {
  const results = await Promise.all(gates.map((gate) => checkGate(gate, context, signal)));
  if (signal.aborted) throw abortReason(signal);
  return results;
}

async function checkGate(gate: Gate, context: GateContext, signal: AbortSignal): Promise<GateResult> {
  using deadline = new Deadline(context.clock, GATE_TIMEOUT_MS, signal);
  let reading: Reading;
  try {
    reading = await readGate(gate, context, deadline.signal);
  } catch (error) {
    const why = deadline.signal.reason instanceof DeadlineError ? 'no answer within 10 s' : failure(error);
    reading = { ok: false, why: `${target(gate)}: ${why}` };
    if (!signal.aborted) context.log.debug('failed to check gate', { gate: gate.name, error: describeError(error) });
  }
  return { name: gate.name, ok: reading.ok, why: boundedWhy(reading.why) };
}

async function readGate({ prometheus, alerts, object }: Gate, { client, http, kinds }: GateContext, signal: AbortSignal): Promise<Reading> {
  if (prometheus !== undefined) return readPrometheus(await http(queryUrl(prometheus), signal), prometheus.expect);
  if (alerts !== undefined) return readAlerts(await http(queryUrl({ url: alerts.url, query: alertsQuery(alerts) }), signal));
  if (object !== undefined) return readObjectGate(object, client, kinds, signal);
  return { ok: false, why: 'the gate has neither prometheus nor alerts nor object' };
}

async function readObjectGate(gate: ObjectGate, client: GateContext['client'], kinds: Kinds, signal: AbortSignal): Promise<Reading> {
  const { apiVersion, kind, namespace, name } = gate;
  const resource = await kinds.find(client, apiVersion, kind, signal);
  if (resource === undefined) return { ok: false, why: `the API server does not serve ${kind} in ${apiVersion}` };
  if (resource.namespaced !== (namespace !== undefined))
    return {
      ok: false,
      why: resource.namespaced ? `${kind} is namespaced; set object.namespace` : `${kind} is not namespaced; remove object.namespace`,
    };
  try {
    return readObject(await client.get(resource, namespace === undefined ? { name } : { namespace, name }, { signal }), gate);
  } catch (error) {
    if (!isNotFound(error)) throw error;
    // Without a name in the error, the path does not exist: the CRD was deleted, or created again with another plural.
    if (error.details?.name === undefined) kinds.forget(apiVersion, kind);
    return readObject(undefined, gate);
  }
}

function target({ prometheus, alerts, object }: Gate): string {
  if (object !== undefined) return `${object.kind} ${object.name}`;
  return URL.parse(prometheus?.url ?? alerts?.url ?? '')?.host ?? 'URL';
}

/** Short, and without the paths and bodies that messages hold. */
function failure(error: unknown): string {
  if (error instanceof ApiError) {
    const remedy = error.code === 403 ? '; allow the controllers to get it' : '';
    return `the API server answered ${error.code} ${error.reason}${remedy}`;
  }
  // A credentials file that cannot be read.
  if (error instanceof ActionError) return messageOf(error);
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const code = errorCode(at);
    if (code !== undefined && UNTRUSTED.has(code)) return `its certificate is not trusted (${code}); name its CA in ${SERVERS_FLAG}`;
    if (code !== undefined) return `cannot connect (${code})`;
  }
  return messageOf(error);
}

/** Codes of OpenSSL for a certificate with an unknown issuer. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Gates are not checked more often than this, in ms: nodes report all the time, and each report enqueues a rollout. */
export const KEPT_MS: Millis = 10_000;

/** The part of a rollout that gates need. */
interface Gated {
  name: string;
  /** Another rollout of the same name has other gates. */
  uid: string;
  /** Of its spec. */
  generation: number;
  gates: readonly Gate[];
}

/** Checks the gates of rollouts, and keeps each result for {@link KEPT_MS}. */
export class GateChecks {
  readonly #context: GateContext;
  readonly #kept = new Map<string, { of: string; until: Millis; results: readonly GateResult[] }>();

  constructor(context: GateContext) {
    this.#context = context;
  }

  /** @throws the signal's reason */
  async results(rules: Gated, signal: AbortSignal): Promise<readonly GateResult[]> {
    const { clock } = this.#context;
    const of = `${rules.uid}/${rules.generation}`;
    const kept = this.#kept.get(rules.name);
    if (kept?.of === of && clock.monotonic() < kept.until) return kept.results;
    const results = await checkGates(rules.gates, this.#context, signal);
    this.#kept.set(rules.name, { of, until: clock.monotonic() + KEPT_MS, results });
    return results;
  }

  forget(rollout: string): void {
    this.#kept.delete(rollout);
  }
}

/** Max cached kinds. */
const MAX_KINDS = 256;

/** Where the API server serves the kinds that gates name. One per process: caches kinds that were found, and asks again for others. */
export class Kinds {
  readonly #found = new Map<string, Resource>();

  /** @param apiVersion - that `gateProblems` accepts @returns undefined: the API server does not serve the kind */
  async find(client: Pick<Client, 'raw'>, apiVersion: string, kind: string, signal: AbortSignal): Promise<Resource | undefined> {
    const key = `${apiVersion} ${kind}`;
    const known = this.#found.get(key);
    if (known !== undefined) return known;
    const [version = '', group = ''] = apiVersion.split('/').toReversed();
    const resource = resourceIn(await servedResources(client, { group, version }, { signal }), { group, version }, kind);
    if (resource === undefined) return undefined;
    if (this.#found.size >= MAX_KINDS) this.#found.clear();
    this.#found.set(key, resource);
    return resource;
  }

  /** The next `find` asks again. */
  forget(apiVersion: string, kind: string): void {
    this.#found.delete(`${apiVersion} ${kind}`);
  }
}

/** @param resources - of a version of a group, as discovery lists them */
function resourceIn(
  resources: readonly JsonObject[],
  { group, version }: Pick<Resource, 'group' | 'version'>,
  kind: string,
): Resource | undefined {
  // `deployments/scale` and the like have a slash.
  const found = resources.find((one) => one['kind'] === kind && typeof one['name'] === 'string' && !one['name'].includes('/'));
  return found && { group, version, resource: String(found['name']), kind, namespaced: found['namespaced'] === true };
}
