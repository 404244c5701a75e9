import { namespaces } from '../../../../kube/api/resources.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { ClusterAccess } from '../../../../kube/client/access.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { createClient, type ClientOptions } from '../../../../kube/client/http-client.ts';
import { startControlPlane, type ControlPlane } from '../../../support/real-parts/control-plane.ts';

/** One control plane for all stories, each of which has a namespace of its own. */
export class RuntimeWorld {
  #plane: ControlPlane | undefined;
  #admin: Client | undefined;
  readonly #open: Client[] = [];

  async start(): Promise<void> {
    this.#plane = await startControlPlane();
    this.#admin = this.clientOf();
  }

  async stop(): Promise<void> {
    for (const client of this.#open) await client.close();
    await this.#plane?.stop();
  }

  get plane(): ControlPlane {
    return started(this.#plane);
  }

  get admin(): Client {
    return started(this.#admin);
  }

  /** The admin's, where nothing else is said; closed at the end. */
  clientOf(access: Partial<ClusterAccess> = {}, options: ClientOptions = {}): Client {
    const { url, ca, adminToken } = this.plane;
    const identity = 'clientCertificate' in access ? {} : { token: adminToken };
    const client = createClient({ origin: 'the test', server: url, ca: { data: ca }, ...identity, ...access }, options);
    this.#open.push(client);
    return client;
  }

  async inNamespace(name: string): Promise<string> {
    await this.admin.create<KubeObject>(namespaces, { metadata: { name } });
    return name;
  }
}

function started<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('the control plane did not start');
  return part;
}
