import { silentLog, type Log } from '../../../base/log.ts';
import type { Client } from '../../../kube/client/client.ts';
import { createClient } from '../../../kube/client/http-client.ts';
import type { ControlPlane } from './control-plane.ts';

/** A client of a control plane as its admin. Closing it is the caller's. */
export const adminClient = ({ url, ca, adminToken }: Pick<ControlPlane, 'url' | 'ca' | 'adminToken'>, log: Log = silentLog): Client =>
  createClient({ origin: 'the test', server: url, ca: { data: ca }, token: adminToken }, { log });
