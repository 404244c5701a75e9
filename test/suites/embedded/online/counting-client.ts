import type { Client } from '../../../../kube/client/client.ts';

/** The same client, which notes each call in `calls`: `list nodes`, `watch configmaps`, `patch nodes/status`, `create events`. */
export function countingClient(client: Client, calls: string[]): Client {
  return {
    get: (resource, ref, options) => {
      calls.push(`get ${resource.resource}`);
      return client.get(resource, ref, options);
    },
    list: (resource, query, options) => {
      calls.push(`list ${resource.resource}`);
      return client.list(resource, query, options);
    },
    listEach: (resource, query, each, options) => {
      calls.push(`list ${resource.resource}`);
      return client.listEach(resource, query, each, options);
    },
    post: (resource, ref, subresource, body, options) => {
      calls.push(`create ${resource.resource}/${subresource}`);
      return client.post(resource, ref, subresource, body, options);
    },
    create: (resource, object, options) => {
      calls.push(`create ${resource.resource}`);
      return client.create(resource, object, options);
    },
    replace: (resource, object, options) => {
      calls.push(`replace ${resource.resource}`);
      return client.replace(resource, object, options);
    },
    patch: (resource, ref, patch, options) => {
      calls.push(`patch ${resource.resource}${options.subresource === undefined ? '' : `/${options.subresource}`}`);
      return client.patch(resource, ref, patch, options);
    },
    delete: (resource, ref, options) => {
      calls.push(`delete ${resource.resource}`);
      return client.delete(resource, ref, options);
    },
    watch: (resource, query, signal) => {
      calls.push(`watch ${resource.resource}`);
      return client.watch(resource, query, signal);
    },
    raw: (method, path, options) => {
      calls.push(`${method} ${path}`);
      return client.raw(method, path, options);
    },
    close: () => client.close(),
  };
}
