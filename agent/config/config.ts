// The public API of this folder, for the rest of the agent and the command line.
import { NEWEST_MINOR, parseKubeletVersion } from './version.ts';

export { applyDefaults, valueAt } from './defaults.ts';
export { decode } from './decode/decode.ts';
export { LIMIT_RULES, MAX_BYTES } from './decode/document.ts';
export {
  compareConfigs,
  type Configz,
  type Difference,
  differingFields,
  explainFields,
  type Explained,
  needsDrain,
  readConfigz,
} from './policy/explain.ts';
export { cappedFindings, MAX_FINDINGS, splitFindings } from './contract.ts';
export { applyFlags, gatesOnCommandLine, parseKubeletHelp, removedFlags, type Shadowed } from './flags.ts';
export { type DropIns, dropInWarnings, mergeOverlay, resolvePaths, withDropIns } from './overlay.ts';
export { defaultPolicy, checkPolicy, checkingPolicy, parsePolicy, type Policy, type PolicyQuestion } from './policy/policy.ts';
export { POD_RULES, preflightFatal } from './preflight/preflight.ts';
export { defaultSocket, filesToRead, pathsToProbe, socketPaths } from './preflight/files.ts';
export { portsOfKubelet, serversOfKubelet } from './preflight/server.ts';
export { preflightSysctls } from './preflight/host.ts';
export { renderYaml, renderYamlWithin } from './yaml/render.ts';
export { validate, validateAll, warnOfGates } from './rules/validate.ts';
export { closestKubeletVersion, COVERED, OLDEST_MINOR, parseKubeletVersion, SHAPES } from './version.ts';

/** Used where the version of the kubelet is unknown. */
export const newestKubeletVersion = parseKubeletVersion(`1.${NEWEST_MINOR}`);
