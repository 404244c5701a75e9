import type { Health as ReportedHealth } from '../status/node-config.ts';
import type { Millis } from '../../base/clock.ts';
import { errorCode } from '../../base/errors.ts';
import { http, https } from '../../kube/client/builtins.ts';

export type Health = { healthy: boolean; detail: string };
/** Asks once. Never throws. */
export type HealthProbe = (url: string, signal: AbortSignal) => Promise<Health>;

const PROBE_TIMEOUT_MS: Millis = 1000;

/** `/healthz` answers 200 within a second. The body is not looked at, and not kept. */
export const probeHealth: HealthProbe = (url, signal) =>
  new Promise((resolve) => {
    const deadline = AbortSignal.timeout(PROBE_TIMEOUT_MS);
    // The certificate of a kubelet is its own: what is asked is whether it lives, not who it is.
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
  });

/** As a condition says it. */
export function healthOf({ healthy, detail }: Health): ReportedHealth {
  return healthy ? { at: 'healthy' } : { at: 'unhealthy', problem: detail };
}
