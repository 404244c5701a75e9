import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject, Resource } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { makeAuthority } from '../../../support/certificates.ts';

const webhooks: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};
const name = 'slow-bindings.test.dkc.dev';

/** Has a real API server take its time over every binding, as one under load does: it asks here first. */
export class SlowBindings {
  /** From the question to the answer, in ms. */
  delayMs: () => number = () => 0;
  /** Bindings that wait for their answer. */
  waiting = 0;
  readonly #server: Server;
  #open = Promise.resolve();
  #release = (): void => {};

  /** The server may need a moment more before it asks. */
  static async start(client: Client): Promise<SlowBindings> {
    const authority = await makeAuthority();
    try {
      const slow = new SlowBindings(createServer(await authority.server()));
      slow.#server.listen(0, '127.0.0.1');
      await once(slow.#server, 'listening');
      const { port } = slow.#server.address() as AddressInfo;
      await client.create<KubeObject & { webhooks: unknown }>(webhooks, {
        metadata: { name },
        webhooks: [
          {
            name,
            clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(authority.ca).toString('base64') },
            rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/binding'] }],
            sideEffects: 'None',
            admissionReviewVersions: ['v1'],
            timeoutSeconds: 30,
          },
        ],
      });
      return slow;
    } finally {
      await authority.remove();
    }
  }

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request, response) => {
      this.waiting += 1;
      const answer = async (): Promise<void> => {
        const review = (await json(request)) as { request: { uid: string } };
        await this.#open;
        await sleep(this.delayMs());
        response.setHeader('content-type', 'application/json');
        const { uid } = review.request;
        response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }));
      };
      void answer()
        // Who asked may be gone.
        .catch(() => response.destroy())
        .finally(() => (this.waiting -= 1));
    });
  }

  /** What is asked from now on is not answered until it is let go. The server itself waits for no longer than 30 s. */
  hold(): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    [this.#open, this.#release] = [promise, resolve];
  }

  letGo(): void {
    this.#release();
  }

  stop(): void {
    this.letGo();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
