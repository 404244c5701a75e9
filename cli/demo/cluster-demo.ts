import { once } from 'node:events';
import { describeError } from '../../base/errors.ts';
import { fine, wrong, type Context, type Exit, type Flag } from '../command.ts';
import type { DemoCluster } from './cluster/demo-cluster.ts';
import { Teller } from './teller.ts';

export const keepFlag: Flag = { name: 'keep', type: 'boolean', text: 'keep everything up until Ctrl-C' };

/** Tells a story of one cluster. `undo` ends what it builds. @throws as soon as something does not happen as told */
export type TellCluster = (context: Context, teller: Teller, undo: AsyncDisposableStack) => Promise<DemoCluster>;

/** @param tries - command lines to try where `keep` leaves the cluster up */
export async function clusterDemo(context: Context, tell: TellCluster, keep: boolean, tries: readonly string[]): Promise<Exit> {
  const teller = new Teller(context);
  await using undo = new AsyncDisposableStack();
  let cluster: DemoCluster;
  try {
    cluster = await tell(context, teller, undo);
  } catch (error) {
    return wrong(context.signal.aborted ? 'the demo was interrupted' : `the demo failed: ${describeError(error)}`);
  }
  context.stdout.write(`\nDone in ${teller.seconds} s.\n`);
  if (!keep) return fine;
  const lines = [`export KUBECONFIG=${cluster.kubeconfig}`, ...tries].map((line) => `  ${line}\n`).join('');
  context.stdout.write(`\nEverything stays up until Ctrl-C. In another shell:\n\n${lines}`);
  if (!context.signal.aborted) await once(context.signal, 'abort');
  return fine;
}
