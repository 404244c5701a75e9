// The room's door: what the rest of the agent and the command line use of it.
import { NEWEST_MINOR, parseKubeletVersion } from './version.ts';

export { applyDefaults, valueAt } from './defaults.ts';
export { compareConfigs, type Difference } from './policy/explain.ts';
export { readConfigz, type Configz } from './policy/explain.ts';
export { dropInWarnings, withDropIns, type DropIns } from './overlay.ts';
export { decode, fieldsUnknownTo } from './decode/decode.ts';
export { LIMIT_RULES, MAX_BYTES } from './decode/document.ts';
export { differingFields, explainFields, type Explained } from './policy/explain.ts';
export { cappedFindings, MAX_FINDINGS, splitFindings } from './contract.ts';
export { applyFlags, gatesOnCommandLine, type Shadowed } from './flags/flags.ts';
export { parseKubeletHelp } from './flags/flags.ts';
export { removedFlags } from './flags/flags.ts';
export { mergeOverlay } from './overlay.ts';
export { resolvePaths } from './overlay.ts';
export { defaultPolicy, checkPolicy, checkingPolicy, parsePolicy, type Policy } from './policy/policy.ts';
export { pathsToProbe, preflightFatal } from './preflight/preflight.ts';
export { filesToRead } from './preflight/files.ts';
export { defaultSocket, socketPaths } from './preflight/files.ts';
export { portsOfKubelet, serversOfKubelet } from './preflight/server.ts';
export { preflightSysctls } from './preflight/host.ts';
export { POD_RULES } from './preflight/start.ts';
export { renderYaml, renderYamlWithin } from './yaml/render.ts';
export { validate, validateAll, warnOfGates } from './rules/validate.ts';
export { closestKubeletVersion, COVERED, OLDEST_MINOR, parseKubeletVersion, SHAPES } from './version.ts';

/** Stands in where a kubelet's own version cannot be learned. */
export const newestKubeletVersion = parseKubeletVersion(`1.${NEWEST_MINOR}`);
