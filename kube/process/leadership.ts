import { unlessAborted } from '../../base/waiting.ts';
import { ActionError } from '../../base/errors.ts';
import { EventSender } from '../controller/event-recorder.ts';
import { type ElectionMetrics, type ElectionOptions, type Ended, LeaderElection } from '../election/election.ts';
import { fenced } from '../election/fence.ts';
import { leases } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import type { Outage } from '../cache/failure-log.ts';
import type { World } from './contract.ts';

/** The Lease of the election, and its times. */
export type LeaseOptions = ElectionOptions['lease'] & Pick<ElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

/** The election of a process, with its own connection and the events on the Lease. */
export class Leadership {
  readonly #identity: string;
  readonly #client: Client;
  readonly #announcer: EventSender;
  readonly #election: LeaderElection;

  /** @param client - for the Lease only, so that no renewal waits behind a long list; closed by `close` */
  constructor(
    { namespace, name, ...times }: LeaseOptions,
    options: Pick<World, 'clock' | 'random' | 'log'> & {
      component: string;
      identity: string;
      client: Client;
      metrics: ElectionMetrics;
      outage: Outage;
    },
  ) {
    const { component, identity, client, metrics, outage, clock, random, log } = options;
    this.#identity = identity;
    this.#client = client;
    // Not fenced: its events name the leader, which is also right when this process may not write.
    this.#announcer = new EventSender({ client, clock, random, log });
    const recorder = this.#announcer.recorder(component);
    this.#election = new LeaderElection({
      ...times,
      lease: { namespace, name },
      client,
      identity,
      clock,
      random,
      log,
      metrics,
      outage,
      announce: (message, lease) => recorder.event(lease, 'Normal', 'LeaderElection', message, { resource: leases }),
    });
  }

  /** `client` for writes as leader. */
  fence(client: Client): Client {
    return fenced(client, this.#election);
  }

  /** Why this process could not lead even if the lease were free, and what to grant; undefined where nothing is known to prevent it. */
  get refusal(): string | undefined {
    return this.#election.refusal;
  }

  /** The leader, for people. */
  describe(): string {
    const { holder, refusal } = this.#election;
    if (refusal !== undefined) return refusal;
    if (holder === '') return 'no process is the leader yet';
    return holder === this.#identity ? `this process is the leader, as ${holder}` : `standing by for ${holder}`;
  }

  /** Resolves once this process leads; rejects with the signal's reason. */
  async whenLeading(signal: AbortSignal): Promise<void> {
    const won = await unlessAborted(this.#election.whenLeading(), signal);
    if (!won) throw new ActionError('elect', 'this process', { hint: 'the election ended before' });
  }

  /** @see LeaderElection.run */
  run(signal: AbortSignal): Promise<Ended> {
    return this.#election.run(signal);
  }

  /** Call it after `run`. @param lost - pending events are dropped: the new leader sends its own */
  async close(lost: boolean): Promise<void> {
    await this.#announcer.close(lost ? AbortSignal.abort() : new AbortController().signal);
    await this.#client.close();
  }
}
