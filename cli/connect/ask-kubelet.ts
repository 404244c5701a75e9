/** In ms: it asks the API server who we are before it answers. */
const KUBELET_TIMEOUT_MS = 10_000;

/** As large as a configuration from the command line may be. */
const MAX_CONFIGZ_BYTES = 4 * 1024 * 1024;

/** What a kubelet's own port answers, asked as the identity of a kubeconfig. @throws {ActionError} for the kubeconfig, and what a Client throws */
export async function askKubelet(
  url: string,
  as: { kubeconfig: string; nodeName: string; userAgent: string; signal?: AbortSignal },
): Promise<unknown> {
  const { createClient } = await import('../../kube/client/http-client.ts');
  const { loadKubeconfig } = await import('../../kube/client/access.ts');
  const { kubeletAccess } = await import('../../kube/client/access.ts');
  const client = createClient(kubeletAccess(await loadKubeconfig(as.kubeconfig), url, as.nodeName), {
    userAgent: as.userAgent,
    largestList: MAX_CONFIGZ_BYTES,
  });
  const { pathname, search } = new URL(url);
  try {
    return await client.raw('GET', `${pathname}${search}`, {
      timeoutMs: KUBELET_TIMEOUT_MS,
      ...(as.signal === undefined ? {} : { signal: as.signal }),
    });
  } finally {
    await client.close();
  }
}
