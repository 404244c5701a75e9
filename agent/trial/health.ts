import { dirname, join } from 'node:path';
import type { Health as ReportedHealth } from '../status/node-config.ts';
import type { Clock, Millis } from '../../base/clock.ts';
import { describeError, errorCode } from '../../base/errors.ts';
import { http, https } from '../../kube/client/builtins.ts';
import {
  type ChangeTimes,
  healthOfNode,
  healthOfPods,
  isReportedSince,
  nodeHeartbeat,
  podSeen,
  type PodSeen,
  REJECTION_WINDOW_MS,
  renewedAt,
} from './node-signals.ts';
import { STARTED_FILE } from '../host/unit.ts';
import type { AgentOptions } from '../options.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';
import { Trigger } from '../../base/waiting.ts';
import { type KubeObject, LEASE_NAMESPACE, leases, nodes, pods } from '../../kube/api/object.ts';
import { escapeFieldValue, nameSelector } from '../../kube/api/selector.ts';
import type { Client } from '../../kube/client/client.ts';
import { isForbidden } from '../../kube/client/errors.ts';
import type { TooLarge } from '../../kube/client/json-bytes.ts';

export type Health = { healthy: boolean; detail: string };
/** Probes once. Never throws. */
export type HealthProbe = (url: string, signal: AbortSignal) => Promise<Health>;

const PROBE_TIMEOUT_MS: Millis = 1000;

/** Healthy when `/healthz` answers 200 within a second. The body is discarded. */
export const probeHealth: HealthProbe = (url, signal) =>
  new Promise<Health>((resolve) => {
    const deadline = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    // A kubelet's serving certificate may be self-signed: the probe checks liveness, not identity.
    const { request } = url.startsWith('https:') ? https() : http();
    const asked = request(url, { rejectUnauthorized: false, agent: false, signal: AbortSignal.any([signal, deadline]) }, (answer) => {
      answer.resume();
      answer.on('error', () => {});
      resolve({ healthy: answer.statusCode === 200, detail: `${url} answered ${answer.statusCode}` });
    });
    asked.on('error', (error) =>
      resolve({ healthy: false, detail: `${url}: ${deadline.aborted ? 'no answer within 1 s' : (errorCode(error) ?? error.message)}` }),
    );
    asked.end();
    // `request` throws on an invalid URL instead of emitting an error.
  }).catch((error: unknown) => ({ healthy: false, detail: `${url}: ${describeError(error)}` }));

/** Health in the form of the Node's condition. */
export function healthOf({ healthy, detail }: Health): ReportedHealth {
  return healthy ? { at: 'healthy' } : { at: 'unhealthy', problem: detail };
}

interface NodeHealthDeps {
  options: Pick<AgentOptions, 'nodeName' | 'trialHealth' | 'kubeletExits' | 'trialDuration' | 'unhealthyDeadline'>;
  disk: Pick<Disk, 'stat'>;
  clock: Clock;
  log: Log;
}

/** Longest time between two reads, in ms; each gets the Node, its Lease where the heartbeat is old, and its pods right after a kubelet start. */
const MAX_PERIOD_MS: Millis = 10_000;
const TIMEOUT_MS: Millis = 5000;
const PAGE = 500;
/** Most pods that are read: a node runs some hundred pods, and may have some thousand that ended. */
const MAX_PODS = 5000;

/** Health of the node as reported to the API server, read while a config is on trial. The last result is valid for three periods. */
export class NodeHealth {
  readonly #deps: NodeHealthDeps;
  readonly #periodMs: Millis;
  readonly #due = new Trigger();
  #trialAt: Millis | undefined;
  #last: { health: Health; at: Millis } | undefined;
  /** Kept until the trial ends: a rejection counts even if the pod is deleted later. */
  #rejected: Health | undefined;
  readonly #alive = new Set<string>();
  #wasReady = false;
  /** Resources that this agent may not read; they are not requested again. */
  readonly #forbidden = new Set<'pods' | 'lease'>();

  constructor(deps: NodeHealthDeps) {
    this.#deps = deps;
    const { trialDuration, unhealthyDeadline } = deps.options;
    this.#periodMs = Math.max(100, Math.min(MAX_PERIOD_MS, trialDuration / 8, unhealthyDeadline / 8));
  }

  /** @param trialAt - when the current trial began, ms since 1970; undefined: no trial runs */
  follow(trialAt: Millis | undefined): void {
    if (trialAt === this.#trialAt) return;
    this.#trialAt = trialAt;
    this.#last = undefined;
    this.#rejected = undefined;
    this.#alive.clear();
    this.#wasReady = false;
    this.#due.notify();
  }

  /** @returns undefined where there is no recent result: then the kubelet's probe alone decides */
  now(): Health | undefined {
    const { clock } = this.#deps;
    return this.#last && clock.monotonic() - this.#last.at <= 3 * this.#periodMs ? this.#last.health : undefined;
  }

  /** Reads the node's health during trials, until the signal aborts. */
  async run(client: Pick<Client, 'get' | 'list' | 'listEach'>, signal: AbortSignal): Promise<void> {
    const { clock, log, options } = this.#deps;
    if (options.trialHealth === 'kubelet') return;
    while (!signal.aborted) {
      const trialAt = this.#trialAt;
      if (trialAt === undefined) {
        await this.#due.wait(signal);
        continue;
      }
      try {
        const health = await this.#fetch(client, trialAt, signal);
        if (trialAt === this.#trialAt) this.#last = health && { health, at: clock.monotonic() };
      } catch (error) {
        if (signal.aborted) return;
        this.#last = undefined;
        log.debug('failed to read node health, using only kubelet health', { error });
      }
      await clock.sleep(this.#periodMs, signal).catch(() => {});
    }
  }

  async #fetch(client: Pick<Client, 'get' | 'list' | 'listEach'>, trialAt: Millis, signal: AbortSignal): Promise<Health | undefined> {
    const { options, clock } = this.#deps;
    const call = { signal, timeoutMs: TIMEOUT_MS };
    const { items } = await client.list(nodes, { fieldSelector: nameSelector(options.nodeName) }, call);
    const node = items.find(({ metadata }) => metadata.name === options.nodeName);
    if (!node) return undefined;
    const heartbeat = nodeHeartbeat(node);
    this.#wasReady ||= heartbeat.ready?.isTrue === true;
    const kubeletAt = (await this.#kubeletAt()) ?? trialAt;
    const times: ChangeTimes = { trialAt, kubeletAt, now: clock.now(), wasReady: this.#wasReady };
    if (heartbeat.ready?.isTrue && !isReportedSince(times, heartbeat.ready.heartbeatAt))
      heartbeat.renewedAt = await this.#renewedAt(client, call);
    const health = healthOfNode(heartbeat, times);
    if (health?.healthy === false) return health;
    return (await this.#podHealth(client, times, call)) ?? health;
  }

  async #renewedAt(client: Pick<Client, 'get'>, call: { signal: AbortSignal; timeoutMs: Millis }): Promise<Millis> {
    const ref = { namespace: LEASE_NAMESPACE, name: this.#deps.options.nodeName };
    const lease = await this.#unlessForbidden('lease', () => client.get(leases, ref, call)).catch((error: unknown) => {
      this.#deps.log.debug('the Lease of the node cannot be read', { error });
      return undefined;
    });
    return lease ? renewedAt(lease) : Number.NaN;
  }

  /** @returns undefined unless the kubelet rejected pods */
  async #podHealth(
    client: Pick<Client, 'listEach'>,
    times: ChangeTimes,
    call: { signal: AbortSignal; timeoutMs: Millis },
  ): Promise<Health | undefined> {
    if (this.#rejected || this.#deps.options.trialHealth === 'node') return this.#rejected;
    // A kubelet rejects pods within this window after its start. Two more periods, so that the last rejections are seen.
    if (times.now > times.kubeletAt + REJECTION_WINDOW_MS + 2 * this.#periodMs) return undefined;
    const seen = await this.#unlessForbidden('pods', () => this.#pods(client, call));
    if (!seen) return undefined;
    const health = healthOfPods(seen, this.#alive, times);
    for (const { uid, failed } of seen) if (!failed) this.#alive.add(uid);
    if (!health.healthy) this.#rejected = health;
    return this.#rejected;
  }

  /** Decodes pod by pod, so that a list of megabytes does not block the event loop; a pod that is too large is skipped. */
  async #pods(client: Pick<Client, 'listEach'>, call: { signal: AbortSignal; timeoutMs: Millis }): Promise<PodSeen[]> {
    const seen: PodSeen[] = [];
    /** Counts the skipped pods too. */
    let looked = 0;
    const fieldSelector = `spec.nodeName=${escapeFieldValue(this.#deps.options.nodeName)}`;
    for (let from = ''; ;) {
      const before = looked;
      const each = (pod: KubeObject): void => {
        looked += 1;
        seen.push(podSeen(pod));
      };
      const skipped = ({ metadata }: TooLarge): void => {
        looked += 1;
        this.#deps.log.debug('ignoring a pod that is too large', { pod: metadata && `${metadata.namespace}/${metadata.name}` });
      };
      const query = { fieldSelector, limit: PAGE, ...(from === '' ? {} : { continue: from }) };
      const metadata = await client.listEach(pods, query, each, { ...call, skipped });
      from = metadata.continue ?? '';
      if (from === '' || looked === before || looked >= MAX_PODS) return seen.slice(0, MAX_PODS);
    }
  }

  async #unlessForbidden<T>(what: 'pods' | 'lease', read: () => Promise<T>): Promise<T | undefined> {
    const { options, log } = this.#deps;
    if (this.#forbidden.has(what)) return undefined;
    try {
      return await read();
    } catch (error) {
      if (!isForbidden(error)) throw error;
      this.#forbidden.add(what);
      const isAsked = what === 'pods' && options.trialHealth === 'pods';
      log[isAsked ? 'warn' : 'info'](
        `this agent has no right to read ${what === 'pods' ? 'the pods' : 'the Lease'} of its node, trials continue without`,
        { error },
      );
      return undefined;
    }
  }

  /** When the kubelet was started: the drop-in copies its config file then. undefined where there is no copy. */
  async #kubeletAt(): Promise<Millis | undefined> {
    const path = join(dirname(this.#deps.options.kubeletExits), STARTED_FILE);
    return (await this.#deps.disk.stat(path).catch(() => undefined))?.modifiedMs;
  }
}
