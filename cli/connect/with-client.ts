import type { Args } from '../args/args.ts';
import type { ConnectQuery, Context } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** Runs `work` with a client for what the connect flags say, and closes it whatever happens. */
export async function withClient<T>(context: Context, args: Args, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await context.connect(connectQueryOf(context, args));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** What the connect flags say. */
export function connectQueryOf(context: Pick<Context, 'path'>, args: Args): ConnectQuery {
  const kubeconfig = args.text('kubeconfig');
  const name = args.text('context');
  const as = args.text('as');
  // 0 is kubectl's word for no limit of its own.
  const requestTimeoutMs = args.ms('request-timeout') || undefined;
  return {
    ...(kubeconfig ? { kubeconfig: context.path(kubeconfig) } : {}),
    ...(name ? { context: name } : {}),
    ...(as ? { as } : {}),
    ...(requestTimeoutMs ? { requestTimeoutMs } : {}),
  };
}
