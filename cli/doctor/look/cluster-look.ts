import { realHost, type HostReads } from './node-look.ts';
import { seen } from '../examine.ts';
import type { Seen } from '../check.ts';
import type { Pair } from '../cluster/roles.ts';
import type { ServerFacts } from '../../../controllers/fleet/server-facts.ts';
import type { FleetNode } from '../../../controllers/fleet/fleet-node.ts';
import { manifests } from '../../../deploy/manifests.ts';
import { isNotFound } from '../../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../../kube/api/object.ts';
import type { Client } from '../../../kube/client/client.ts';
import { fleetCarrier } from '../../fleet/carrier.ts';
import { minorOf } from '../node/server.ts';
import { NEWEST_RELEASE } from '../../deploy/manifests.ts';
import type { ClusterAccess } from '../../../kube/client/access.ts';
import type { Context } from '../../command.ts';

/** A cluster, as the gatherers of `dkc doctor --cluster` look at it. What several of them need is looked at once. */
export class ClusterLook {
  readonly context: Context;
  readonly client: Client;
  readonly server: ServerFacts;
  readonly host: Pick<HostReads, 'hello'>;
  /** Of the kubeconfig, for messages, and what it says. */
  readonly kubeconfig: string;
  readonly access: Seen<ClusterAccess | { problem: string }>;
  #nodes: Promise<Seen<readonly FleetNode[]>> | undefined;

  constructor(
    context: Context,
    about: {
      client: Client;
      server: ServerFacts;
      kubeconfig: string;
      access: Seen<ClusterAccess | { problem: string }>;
      host?: Pick<HostReads, 'hello'>;
    },
  ) {
    this.context = context;
    this.client = about.client;
    this.server = about.server;
    this.kubeconfig = about.kubeconfig;
    this.access = about.access;
    this.host = about.host ?? realHost;
  }

  /** N of the release 1.N that manifests are for. */
  get release(): number {
    return Math.min(minorOf(this.server.version) ?? NEWEST_RELEASE, NEWEST_RELEASE);
  }

  /** What `dkc deploy manifests` prints for this server. @param image - for what runs in the cluster as well */
  manifests(image?: string): KubeObject[] {
    return manifests({ release: this.release, credentials: 'kubelet', nodes: [], listsPods: false, image });
  }

  nodes(): Promise<Seen<readonly FleetNode[]>> {
    const { client, context } = this;
    const { clock, random, log, signal } = context;
    this.#nodes ??= seen(async () => (await fleetCarrier({ client, clock, random, log }, signal)).list(signal));
    return this.#nodes;
  }

  /** undefined: there is none, or its kind is not served. */
  find<T extends KubeObject>(
    resource: Resource,
    name: string,
    namespace: string | undefined,
    signal: AbortSignal,
  ): Promise<Seen<T | undefined>> {
    return seen(async () => {
      try {
        return await this.client.get<T>(resource, { name, ...(namespace === undefined ? {} : { namespace }) }, { signal });
      } catch (error) {
        if (isNotFound(error)) return undefined;
        throw error;
      }
    });
  }

  /** Each manifest of these kinds with what is there under its name. */
  async pairs(ours: readonly KubeObject[], resources: readonly Resource[], signal: AbortSignal): Promise<Pair[]> {
    const byKind = new Map(resources.map((resource) => [resource.kind, resource]));
    return Promise.all(
      ours.flatMap((manifest) => {
        const resource = byKind.get(manifest.kind ?? '');
        const { name = '', namespace } = manifest.metadata;
        return resource === undefined ? [] : [this.find(resource, name, namespace, signal).then((theirs) => ({ ours: manifest, theirs }))];
      }),
    );
  }
}
