import type { Client } from '../../../../kube/client/client.ts';

/** What is noted of a call that is not called by its own name. */
const verbs: Readonly<Record<string, string>> = { listEach: 'list', post: 'create' };

/** The same client, which notes each call in `calls`: `list nodes`, `watch configmaps`, `patch nodes/status`, `create events`. */
export function countingClient(client: Client, calls: string[]): Client {
  return new Proxy(client, {
    get(target, method) {
      const call: unknown = Reflect.get(target, method);
      if (typeof call !== 'function' || typeof method === 'symbol') return call;
      if (method === 'close') return () => target.close();
      return (...all: readonly unknown[]): unknown => {
        const [first, , third, fourth] = all as [{ resource: string } | string, unknown, unknown, { subresource?: string } | undefined];
        const sub = method === 'post' ? String(third) : method === 'patch' ? fourth?.subresource : undefined;
        const what = typeof first === 'string' ? `${first} ${String(all[1])}` : `${verbs[method] ?? method} ${first.resource}`;
        calls.push(sub === undefined ? what : `${what}/${sub}`);
        return call.apply(target, all) as unknown;
      };
    },
  });
}
