import { once } from 'node:events';
import { describeError } from '../../../base/errors.ts';
import { fine, wrong, type Context, type Exit } from '../../command.ts';
import { Teller } from '../teller.ts';
import { buildFleet, ROLLOUT } from './fleet-stage.ts';
import { tellFleet } from './fleet-story.ts';

/** `dkc demo --nodes=N`. @param keep - everything stays up until Ctrl-C, as it does on a terminal @returns the exit code */
export async function fleetDemo(context: Context, count: number, keep: boolean): Promise<Exit> {
  const teller = new Teller(context);
  await using stage = await buildFleet(context, count);
  try {
    await tellFleet(context, stage, teller);
  } catch (error) {
    if (context.signal.aborted) return wrong('the demo was interrupted');
    const { status } = stage.rollout.last ?? {};
    if (status?.message !== undefined) context.stderr.write(`NodeConfigRollout ${ROLLOUT}: ${status.phase}: ${status.message}\n`);
    return wrong(`the demo failed: ${describeError(error)}`);
  }
  context.stdout.write(`\nDone in ${teller.seconds} s.\n`);
  if (!keep && !context.stdout.isTTY) return fine;
  context.stdout.write(`
Everything stays up until Ctrl-C. The fleet page: ${stage.pageUrl}

In another shell:

  export KUBECONFIG=${stage.kubeconfig}
  kubectl get nodeconfigrollouts
  kubectl -n dkc-system edit configmap ${ROLLOUT}      # another rollout begins
  kubectl get nodeconfigs -w
  dkc rollout status ${ROLLOUT}
`);
  if (!context.signal.aborted) await once(context.signal, 'abort');
  return fine;
}
