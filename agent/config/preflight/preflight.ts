import { cappedFindings, type Finding, type HostFacts, type JsonObject, type KubeletFacts } from '../contract.ts';
import { Preflight } from '../rules/validation.ts';
import { checkCgroups, checkFiles, checkPodLogs, checkRuntime } from './files.ts';
import { checkEviction, checkReserved } from './allocatable.ts';
import { checkManagers } from './managers.ts';
import { checkHost } from './host.ts';
import { checkPods, checkStart } from './start.ts';
import { checkServer, checkTls } from './server.ts';

export { pathsToProbe } from './files.ts';

/**
 * Finds what passes the kubelet's validation and then ends it at start, or keeps it from ever being healthy.
 * What depends on the host is an error where `host` shows that it fails, a warning where `host` does not know.
 * @param defaulted - what `applyDefaults` made of the configuration with the flags on it
 */
export function preflightFatal(defaulted: JsonObject, host: HostFacts, kubelet: KubeletFacts): { errors: Finding[]; warnings: Finding[] } {
  const flight = new Preflight(defaulted, host, kubelet);
  checkServer(flight);
  checkTls(flight);
  checkRuntime(flight);
  checkStart(flight);
  checkFiles(flight);
  checkPodLogs(flight);
  checkManagers(flight);
  checkReserved(flight);
  checkEviction(flight);
  checkHost(flight);
  checkCgroups(flight);
  checkPods(flight);
  return { errors: cappedFindings(flight.findings), warnings: cappedFindings(flight.warnings) };
}
