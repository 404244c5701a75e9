import { topic, type Topic } from './examine.ts';
import { lookAtCommandLine, lookAtDropIns, lookAtHost, lookAtUnits } from './look/units.ts';
import { lookAtDisk, lookAtPermissions, lookAtSettings, lookAtStore } from './look/files.ts';
import { lookAtPorts } from './look/ports.ts';
import { lookAtCredentials, lookAtServer } from './look/server.ts';
import type { NodeLook } from './look/node-look.ts';
import { commandLineChecks, hostChecks } from './node/command-line.ts';
import {
  type ClusterLook,
  lookAtControllers,
  lookAtCredentials as lookAtCaller,
  lookAtDefinitions,
  lookAtFleet,
  lookAtHello,
  lookAtRoles,
} from './look/cluster.ts';
import { controllerChecks } from './cluster/controllers.ts';
import { definitionChecks } from './cluster/definitions.ts';
import { fleetChecks } from './cluster/fleet.ts';
import { roleChecks } from './cluster/roles.ts';
import { credentialChecks, nodeWords, personWords } from './node/credentials.ts';
import { diskChecks, permissionChecks, settingsChecks, storeChecks } from './node/files.ts';
import { portChecks } from './node/ports.ts';
import { helloChecks, serverChecks } from './node/server.ts';
import { dropInChecks } from './node/drop-ins.ts';
import { unitChecks } from './node/units.ts';

/** What is checked on a node, in the order of the report: what else depends on comes first. */
export const nodeTopics: readonly Topic<NodeLook>[] = [
  topic(settingsChecks, lookAtSettings),
  topic(unitChecks, lookAtUnits),
  topic(dropInChecks, lookAtDropIns),
  topic(commandLineChecks, lookAtCommandLine),
  topic(hostChecks, lookAtHost),
  topic(portChecks, lookAtPorts),
  topic(diskChecks, lookAtDisk),
  topic(permissionChecks, lookAtPermissions),
  topic(storeChecks, lookAtStore),
  topic(credentialChecks(nodeWords), lookAtCredentials),
  topic(serverChecks, lookAtServer),
];

/** What is checked of a cluster. */
export const clusterTopics: readonly Topic<ClusterLook>[] = [
  topic(credentialChecks(personWords), lookAtCaller),
  topic(helloChecks, lookAtHello),
  topic(definitionChecks, lookAtDefinitions),
  topic(roleChecks, lookAtRoles),
  topic(fleetChecks, lookAtFleet),
  topic(controllerChecks, lookAtControllers),
];
