import { topic, type Topic } from './examine.ts';
import { lookAtCommandLine, lookAtHost } from './look/command-line.ts';
import { lookAtDisk, lookAtSettings } from './look/disk.ts';
import type { NodeLook } from './look/node-look.ts';
import { lookAtStore } from './look/store.ts';
import { lookAtDropIns, lookAtUnits } from './look/units.ts';
import { commandLineChecks } from './node/command-line.ts';
import { diskChecks } from './node/disk.ts';
import { dropInChecks } from './node/drop-ins.ts';
import { hostChecks } from './node/host.ts';
import { settingsChecks } from './node/settings.ts';
import { storeChecks } from './node/store.ts';
import { unitChecks } from './node/units.ts';

/** What is checked on a node, in the order of the report: what else depends on comes first. */
export const nodeTopics: readonly Topic<NodeLook>[] = [
  topic(settingsChecks, lookAtSettings),
  topic(unitChecks, lookAtUnits),
  topic(dropInChecks, lookAtDropIns),
  topic(commandLineChecks, lookAtCommandLine),
  topic(hostChecks, lookAtHost),
  topic(diskChecks, lookAtDisk),
  topic(storeChecks, lookAtStore),
];
