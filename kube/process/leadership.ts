import { unlessAborted } from '../../base/waiting.ts';
import { ActionError } from '../../base/errors.ts';
import { EventSender } from '../controller/event-recorder.ts';
import { type ElectionMetrics, type ElectionOptions, type Ended, LeaderElection } from '../election/election.ts';
import { fenced } from '../election/fence.ts';
import { leases } from '../api/object.ts';
import type { Client } from '../client/client.ts';
import type { Outage } from '../cache/failure-log.ts';
import type { World } from './contract.ts';

/** Which Lease to lead by. */
export type LeaseOptions = ElectionOptions['lease'] & Pick<ElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>;

/** The election of a process with what belongs to it: its own connection, and events on the Lease. */
export class Leadership {
  readonly #identity: string;
  readonly #client: Client;
  readonly #announcer: EventSender;
  readonly #election: LeaderElection;

  /** @param client - for the Lease alone, so that no renewal waits behind a long list; closed with this */
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
    // Not fenced: it tells who leads, which is true even when nobody may write.
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

  /** `client` as those use it who write as leader. */
  fence(client: Client): Client {
    return fenced(client, this.#election);
  }

  /** Why it could not lead even if the lease were free, and what to grant. undefined: nothing is known to be in its way. */
  get refusal(): string | undefined {
    return this.#election.refusal;
  }

  /** Who leads, for people. */
  describe(): string {
    const { holder, refusal } = this.#election;
    if (refusal !== undefined) return refusal;
    if (holder === '') return 'no process is the leader yet';
    return holder === this.#identity ? `this process is the leader, as ${holder}` : `standing by for ${holder}`;
  }

  /** Resolves once we lead; rejects with the signal's reason. */
  async whenLeading(signal: AbortSignal): Promise<void> {
    const won = await unlessAborted(this.#election.whenLeading(), signal);
    if (!won) throw new ActionError('elect', 'this process', { hint: 'the election ended before' });
  }

  /** @see LeaderElection.run */
  run(signal: AbortSignal): Promise<Ended> {
    return this.#election.run(signal);
  }

  /** After `run`. @param lost - then pending events are not waited for: the new leader sends its own */
  async close(lost: boolean): Promise<void> {
    await this.#announcer.close(lost ? AbortSignal.abort() : new AbortController().signal);
    await this.#client.close();
  }
}
