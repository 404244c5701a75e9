import { fleetCarrier, type FleetCarrier } from './carrier.ts';
import { factsText } from '../../controllers/fleet/server-facts.ts';
import type { Args } from '../args/args.ts';
import type { Context } from '../command.ts';
import type { Client } from '../../kube/client/client.ts';

/** The fleet of a command. With `-v` stderr gets a line about what carries assignments, and why. */
export async function fleetOf(context: Context, args: Args, client: Client): Promise<FleetCarrier> {
  const { clock, random, log, signal } = context;
  const fleet = await fleetCarrier({ client, clock, random, log }, signal);
  if (isVerbose(args)) noteFacts(context, fleet);
  return fleet;
}

/** For a command that goes on where the API server keeps no assignments: a line with the remedy. */
export function noteMissingCarrier(context: Context, args: Args, fleet: FleetCarrier): void {
  const { servesNodeConfigs, hasConfigSource } = fleet.facts;
  if (!servesNodeConfigs && !hasConfigSource && !isVerbose(args)) noteFacts(context, fleet);
}

const isVerbose = (args: Args): boolean => (args.number('verbose') ?? 0) > 0;

function noteFacts({ stderr }: Context, { facts }: FleetCarrier): void {
  stderr.write(`dkc: note: ${factsText(facts)}\n`);
}
