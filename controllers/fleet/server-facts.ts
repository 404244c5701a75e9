import { ActionError } from '../../base/errors.ts';
import { installCommand } from '../../agent/status/choose-carrier.ts';
import { nodeConfigs } from '../../agent/status/node-config.ts';
import { isJsonObject } from '../../kube/api/json.ts';
import { LAST_WITH_CONFIG_SOURCE } from '../../kube/api/release.ts';
import { type Client, servesResource } from '../../kube/client/client.ts';

/** What an API server can keep assignments in. */
export interface ServerFacts {
  /** As the server reports it: `v1.36.3`. */
  version: string;
  /** The server serves NodeConfigs. */
  servesNodeConfigs: boolean;
  /** Its release still has `Node.spec.configSource`, if the feature gate is on: up to 1.25. Later ones keep the field on Nodes that have it already. */
  hasConfigSource: boolean;
}

/** Asks the server for its version and for our kind. @throws ApiError, TransportError */
export async function serverFacts(client: Pick<Client, 'raw'>, signal: AbortSignal): Promise<ServerFacts> {
  const [version, servesNodeConfigs] = await Promise.all([
    client.raw('GET', '/version', { signal }),
    servesResource(client, nodeConfigs, signal),
  ]);
  const { gitVersion, minor } = isJsonObject(version) ? version : {};
  const text = typeof gitVersion === 'string' ? gitVersion.slice(0, 40) : '';
  // Some vendors write the minor as 20+; anything else counts as a new release.
  const release = /^\d{1,3}/.exec(String(minor))?.[0];
  return { version: text, servesNodeConfigs, hasConfigSource: release !== undefined && Number(release) <= LAST_WITH_CONFIG_SOURCE };
}

/** Where the first assignment of a node is stored, and why: one line for `-v`. */
export function factsText({ version, servesNodeConfigs, hasConfigSource }: ServerFacts): string {
  const server = `API server ${version}`;
  if (servesNodeConfigs)
    return `${server} serves NodeConfigs: nodes use theirs; a Node that has spec.configSource and no NodeConfig keeps using that`;
  if (hasConfigSource) return `${server} does not serve NodeConfigs: nodes use Node.spec.configSource`;
  return `${server} drops Node.spec.configSource and does not serve NodeConfigs; to install them: ${installCommand(version)}`;
}

/** The server has nowhere to keep an assignment: the same for every node that has none yet. */
export class NoCarrierError extends ActionError {
  override name = 'NoCarrierError';
  constructor(facts: ServerFacts) {
    super('assign a ConfigMap to', 'nodes', {
      hint: `${factsText(facts)}${facts.hasConfigSource ? `; to install them: ${installCommand(facts.version)}` : ''}`,
    });
  }
}
