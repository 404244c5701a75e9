import type { Args } from '../args.ts';
import type { Context } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** Runs `work` with a client for what the connect flags say, and closes it whatever happens. */
export async function withClient<T>(context: Context, args: Args, work: (client: Client) => Promise<T>): Promise<T> {
  const kubeconfig = args.text('kubeconfig');
  const name = args.text('context');
  const client = await context.connect({
    ...(kubeconfig ? { kubeconfig: context.path(kubeconfig) } : {}),
    ...(name ? { context: name } : {}),
  });
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}
