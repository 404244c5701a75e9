import type { Args } from '../args/args.ts';
import type { ConnectQuery, Context, Flag } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** Flags for the connection to the API server; kubectl has the same names. */
export const connectFlags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    type: 'string',
    value: 'FILE',
    completes: 'file',
    text: 'path to the kubeconfig',
    defaultText: '$KUBECONFIG, then ~/.kube/config',
  },
  {
    name: 'context',
    type: 'string',
    value: 'NAME',
    completes: 'context',
    text: 'kubeconfig context to use',
    defaultText: 'the current context',
  },
  { name: 'as', type: 'string', value: 'USER', text: 'user to impersonate' },
  { name: 'as-group', type: 'string', many: true, value: 'GROUP', text: 'group to impersonate with --as; may be repeated' },
  { name: 'as-uid', type: 'string', value: 'UID', text: 'uid to impersonate with --as' },
  {
    name: 'request-timeout',
    type: 'duration',
    bareSeconds: true,
    value: 'TIME',
    text: 'timeout of a single API request, in seconds without a unit; 0 = none',
    defaultText: '30s',
  },
];

/** In addition to {@link connectFlags}, for kinds with namespaces. */
export const namespaceFlag: Flag = {
  name: 'namespace',
  alias: 'n',
  type: 'string',
  value: 'NS',
  completes: 'namespace',
  text: 'namespace of objects named without one',
  defaultText: "the context's, then default",
};

/** Runs `work` with a client made from the connect flags, and always closes the client. */
export async function withClient<T>(context: Context, args: Args, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await context.connect(connectQueryOf(context, args));
  try {
    return await work(client);
  } finally {
    await client.close();
  }
}

/** The namespace of an object named by NAME alone: from `-n`, else from the context. undefined if `named` has a namespace, or neither sets one. */
export async function namespaceFor(context: Pick<Context, 'path' | 'namespaceOf'>, args: Args, named: string): Promise<string | undefined> {
  const flag = args.text('namespace');
  return flag ?? (named === '' || named.includes('/') ? undefined : await context.namespaceOf(connectQueryOf(context, args)));
}

/** The values of the connect flags. */
export function connectQueryOf(context: Pick<Context, 'path'>, args: Args): ConnectQuery {
  const kubeconfig = args.text('kubeconfig');
  const name = args.text('context');
  const as = args.text('as');
  const asGroups = args.texts('as-group').filter((group) => group !== '');
  const asUid = args.text('as-uid');
  const given = args.ms('request-timeout');
  // As in kubectl, 0 means no limit.
  const requestTimeoutMs = given === 0 ? Infinity : given;
  return {
    ...(kubeconfig ? { kubeconfig: context.path(kubeconfig) } : {}),
    ...(name ? { context: name } : {}),
    ...(as ? { as } : {}),
    ...(asGroups.length > 0 ? { asGroups } : {}),
    ...(asUid ? { asUid } : {}),
    ...(requestTimeoutMs ? { requestTimeoutMs } : {}),
  };
}
