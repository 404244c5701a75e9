import { cappedFindings, type Finding, type HostFacts, type JsonObject, type KubeletFacts } from '../contract.ts';
import { Preflight } from '../rules/validation.ts';
import { judgeCgroups, judgeFiles } from './files.ts';
import { judgeEviction, judgeReserved } from './allocatable.ts';
import { judgeManagers } from './managers.ts';
import { judgePods, judgeServer } from './server.ts';
import { judgeHost } from './host.ts';

export { pathsToProbe } from './files.ts';

/**
 * Finds what passes the kubelet's validation and then ends it at start, or keeps it from ever being healthy.
 * What depends on the host is an error where `host` shows that it fails, a warning where `host` does not know.
 * @param defaulted - what `applyDefaults` made of the configuration with the flags on it
 */
export function preflightFatal(defaulted: JsonObject, host: HostFacts, kubelet: KubeletFacts): { errors: Finding[]; warnings: Finding[] } {
  const flight = new Preflight(defaulted, host, kubelet);
  judgeServer(flight);
  judgeFiles(flight);
  judgeManagers(flight);
  judgeReserved(flight);
  judgeEviction(flight);
  judgeHost(flight);
  judgeCgroups(flight);
  judgePods(flight);
  return { errors: cappedFindings(flight.findings), warnings: cappedFindings(flight.warnings) };
}
