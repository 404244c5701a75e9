import type { KubeObject, Resource } from '../../kube/api/object.ts';
import type { Client } from '../../kube/client/client.ts';
import { ApiError, isForbidden, isNotFound } from '../../kube/client/errors.ts';
import { kubeconfigUser } from '../../kube/client/access.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';
import { kubeconfigPaths } from '../connect/connect.ts';
import { connectQueryOf } from '../connect/flags.ts';

type Review = KubeObject & { status?: { userInfo?: { username?: string } } };

/** Newest first: 1.28, 1.27 and 1.26 brought one each. */
const VERSIONS = ['v1', 'v1beta1', 'v1alpha1'];
const MAX_NAME = 256;

const reviews = (version: string): Resource => ({
  group: 'authentication.k8s.io',
  version,
  resource: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
  namespaced: false,
});

/** Who asks: as the API server knows them; on servers before 1.26 the user of the kubeconfig. */
export async function whoAmI(context: Context, args: Args, client: Pick<Client, 'create'>): Promise<string> {
  for (const version of VERSIONS) {
    try {
      const { status } = await client.create<Review>(reviews(version), { metadata: {} }, { signal: context.signal });
      const name = status?.userInfo?.username ?? '';
      if (name !== '') return name.slice(0, MAX_NAME);
    } catch (error) {
      if (!(error instanceof ApiError) || !(isNotFound(error) || isForbidden(error))) throw error;
    }
  }
  const as = args.text('as');
  if (as !== undefined) return as.slice(0, MAX_NAME);
  const query = connectQueryOf(context, args);
  const user = await kubeconfigUser(kubeconfigPaths(query, context.env), query.context);
  return (user ?? 'unknown').slice(0, MAX_NAME);
}
