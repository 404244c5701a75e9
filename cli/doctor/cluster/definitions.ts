import { type Check, failed, ok, type Seen, skipped, someOf, the, type Verdict, warning } from '../check.ts';
import { installCommand } from '../../../agent/status/choose-carrier.ts';
import { minorOf } from '../../../kube/api/release.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';
import type { ServerFacts } from '../../../controllers/fleet/server-facts.ts';
import { SYSTEM_NAMESPACE } from '../../../deploy/rights.ts';
import { isJsonObject } from '../../../kube/api/json.ts';
import type { KubeObject } from '../../../kube/api/object.ts';

export interface DefinitionFacts {
  server: ServerFacts;
  namespace: Seen<KubeObject | undefined>;
  /** The definition that `dkc deploy manifests` prints for this server, and the installed one. */
  nodeConfigs: { expected: KubeObject; actual: Seen<KubeObject | undefined> };
  rollouts: { expected: KubeObject; actual: Seen<KubeObject | undefined> };
  /** Nodes with an assignment in their own spec, although the server serves NodeConfigs or drops the field. */
  byNodeSpec: Seen<readonly string[]>;
}

export const DEPLOY = installCommand('');
/** Members without effect on validation. */
const NO_RULES: ReadonlySet<string> = new Set(['description']);

export const definitionChecks: readonly Check<DefinitionFacts>[] = [
  { name: 'server-version', wants: `an API server 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`, decide: version },
  { name: 'namespace', wants: `the namespace ${SYSTEM_NAMESPACE}`, decide: namespace },
  {
    name: 'crd-nodeconfigs',
    wants: 'the CustomResourceDefinition of NodeConfig exists, is established, and matches this version of dkc',
    decide: ({ nodeConfigs, server }) => {
      const verdict = definition(nodeConfigs, server);
      return the(nodeConfigs.actual) === undefined && server.hasConfigSource
        ? warning(`${verdict.detail}: configurations can only be assigned in Node.spec.configSource`, installCommand(server.version))
        : verdict;
    },
  },
  {
    name: 'crd-rollouts',
    wants: 'the CustomResourceDefinition of NodeConfigRollout exists, is established, and matches this version of dkc',
    decide: ({ rollouts, server }) => definition(rollouts, server),
  },
  { name: 'assigned-by', wants: 'nodes are assigned by NodeConfigs where the API server serves them', decide: assignedBy },
];

function version({ server }: DefinitionFacts): Verdict {
  const minor = minorOf(server.version);
  if (minor === undefined)
    return skipped(`the API server reports the version ${JSON.stringify(server.version)}, which is not one of Kubernetes`);
  if (minor < OLDEST_MINOR) return failed(`API server ${server.version} is older than 1.${OLDEST_MINOR}`, 'upgrade the API server');
  if (minor > NEWEST_MINOR) return warning(`API server ${server.version} is newer than the versions that this dkc supports`, 'upgrade dkc');
  return ok(`API server ${server.version}`);
}

function namespace({ namespace, server }: DefinitionFacts): Verdict {
  const found = the(namespace);
  const install = installCommand(server.version);
  if (found === undefined) return failed(`there is no namespace ${SYSTEM_NAMESPACE}`, install);
  if (found.metadata.deletionTimestamp !== undefined)
    return failed(`the namespace ${SYSTEM_NAMESPACE} is being deleted`, `wait until it is gone, then ${install}`);
  return ok(SYSTEM_NAMESPACE);
}

function definition({ expected, actual }: DefinitionFacts['rollouts'], server: ServerFacts): Verdict {
  const found = the(actual);
  const install = installCommand(server.version);
  const name = expected.metadata.name ?? '';
  if (found === undefined) return failed(`there is no CustomResourceDefinition ${name}`, install);
  const conditions = new Map(listOf(member(found, 'status'), 'conditions').map((one) => [one['type'], one]));
  if (found.metadata.deletionTimestamp !== undefined || conditions.get('Terminating')?.['status'] === 'True')
    return failed(`${name} is being deleted, with all objects of its kind`, `wait until it is gone, then ${install}`);
  if (conditions.get('Established')?.['status'] !== 'True') {
    const reported = conditions.get('NamesAccepted')?.['message'];
    const why = typeof reported === 'string' ? reported : 'the API server has not reported why';
    return failed(
      `${name} is not established: ${why}`,
      `kubectl describe crd ${name}; another CustomResourceDefinition may use one of its names`,
    );
  }
  const [own] = versionsOf(expected);
  const served = versionsOf(found).find((one) => one['name'] === own?.['name']);
  if (served?.['served'] !== true)
    return failed(
      `${name} does not serve ${String(own?.['name'])}, which this dkc uses`,
      `${install}, with the newest version of dkc that is used in this cluster`,
    );
  const { lacks, adds } = differenceOf(rulesOf(own), rulesOf(served), NO_RULES);
  if (lacks.length > 0)
    return failed(
      `${name} is not the one that this dkc needs on this API server: it differs in ${someOf(lacks.map(fieldOf))}`,
      `${install}, with the newest version of dkc that is used in this cluster`,
    );
  if (adds.length > 0)
    return warning(`${name} was installed by a newer dkc: it also has ${someOf(adds.map(fieldOf))}`, 'use that version of dkc');
  return ok(`${name} ${String(own?.['name'])}`);
}

const versionsOf = (definition: KubeObject) => listOf(member(definition, 'spec'), 'versions');
const rulesOf = (version: Readonly<Record<string, unknown>> | undefined) => ({
  schema: member(version, 'schema'),
  subresources: version?.['subresources'],
});

/** `spec.steps`, for `schema.openAPIV3Schema.properties.spec.properties.steps`. */
function fieldOf(path: string): string {
  const field = path.replace(/^schema\.openAPIV3Schema\.?/, '').replaceAll(/(^|\.)(properties|items)\./g, '$1');
  return field === '' ? 'its schema' : field;
}

function assignedBy({ server, byNodeSpec }: DefinitionFacts): Verdict {
  const { version, servesNodeConfigs, hasConfigSource } = server;
  if (!servesNodeConfigs && !hasConfigSource)
    return failed(`API server ${version} serves no NodeConfigs and drops Node.spec.configSource`, DEPLOY);
  if (!servesNodeConfigs) return ok(`Node.spec.configSource, if the gate DynamicKubeletConfig of the API server is on`);
  const left = the(byNodeSpec);
  if (left.length === 0) return ok('NodeConfigs');
  return warning(
    `${left.length} ${left.length === 1 ? 'node is' : 'nodes are'} assigned by Node.spec.configSource: ${someOf(left)}`,
    'move them before the API server is upgraded past 1.25: docs/operations.md, "Move from Node.spec.configSource to NodeConfig"',
  );
}

function member(of: unknown, name: string): Readonly<Record<string, unknown>> | undefined {
  const value = isJsonObject(of) ? of[name] : undefined;
  return isJsonObject(value) ? value : undefined;
}

function listOf(of: unknown, name: string): Readonly<Record<string, unknown>>[] {
  const value = isJsonObject(of) ? of[name] : undefined;
  return Array.isArray(value) ? (value as readonly unknown[]).filter(isJsonObject) : [];
}

/** Differences of two values, as dotted paths. */
interface Difference {
  /** Paths that only `expected` has. */
  lacks: string[];
  /** Paths that only `actual` has. */
  adds: string[];
}

/** Maximum number of paths in each of the two lists; a definition has a few hundred. */
const MAX_PATHS = 200;

/** @param ignored - members that are not compared, at any level */
export function differenceOf(expected: unknown, actual: unknown, ignored: ReadonlySet<string> = new Set()): Difference {
  const found: Difference = { lacks: [], adds: [] };
  compare(expected, actual, '', found, ignored);
  return { lacks: found.lacks.slice(0, MAX_PATHS), adds: found.adds.slice(0, MAX_PATHS) };
}

function compare(expected: unknown, actual: unknown, path: string, found: Difference, ignored: ReadonlySet<string>): void {
  if (!isJsonObject(expected) || !isJsonObject(actual)) {
    if (textOf(expected) !== textOf(actual)) found.lacks.push(path);
    return;
  }
  const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
  for (const [key, value] of Object.entries(expected)) {
    if (ignored.has(key)) continue;
    if (Object.hasOwn(actual, key)) compare(value, actual[key], at(key), found, ignored);
    else found.lacks.push(at(key));
  }
  for (const key of Object.keys(actual)) if (!Object.hasOwn(expected, key) && !ignored.has(key)) found.adds.push(at(key));
}

/** Canonical text of a value: independent of the order of members and of lists of strings. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) {
    const items = value.map(textOf);
    return `[${(value.every((item) => typeof item === 'string') ? items.toSorted() : items).join()}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? '';
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${textOf(member)}`).join()}}`;
}
