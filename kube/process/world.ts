import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { AccessSource } from '../client/access.ts';
import type { Client } from '../client/client.ts';
import type { ClientOptions } from '../client/http-client.ts';

/** What a process cannot make up by itself. */
export interface World {
  clock: Clock;
  random: Random;
  log: Log;
  /** Aborts when the process is to end: SIGTERM, SIGINT. */
  signal: AbortSignal;
  /** @default over the network */
  createClient?: (access: AccessSource, options: ClientOptions) => Client;
  /** Who it is in a lease; new in each process. @default `HOST_UUID` */
  identity?: () => string;
}
