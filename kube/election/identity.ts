import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';

/** What the kernel calls this machine. */
export const thisHost = (): string => hostname();

/** Who we are in a lease: `hostname_uuid`, new with every call, so that a restarted process never takes its predecessor for itself. */
export const newIdentity = (): string => `${hostname()}_${randomUUID()}`;
