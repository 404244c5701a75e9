import { fine, type Command } from '../command.ts';
import { connectFlags } from '../connect.ts';
import { formatFlag, show, table, type Column, type Paint } from '../output.ts';
import { fleetCarrier } from './carrier.ts';
import { standingOf, type FleetNode, type Standing } from './fleet-node.ts';
import { sourceCell } from './source-cell.ts';
import { withClient } from './with-client.ts';

export const nodesCommand: Command = {
  describe: `Shows for every node what it is assigned, what it uses and what it trusts, as the nodes themselves report it to the API server.

STATE is settled (uses what it is assigned), pending (on its way), error, local (nothing assigned), or silent (something is assigned and no agent has reported).`,
  examples: [
    { run: 'dkc nodes', what: 'all of them' },
    { run: 'dkc nodes -l pool=web -o wide', what: 'some of them, with uids and resource versions' },
    { run: `dkc nodes -o json | jq '.[] | select(.error)'`, what: 'those in trouble' },
  ],
  flags: [
    { name: 'selector', alias: 'l', type: 'string', value: 'LABELS', text: 'only nodes with these labels' },
    ...connectFlags,
    formatFlag,
  ],
  positionals: [{ name: 'node', text: 'only these', many: true, completes: 'node' }],
  run: (context, args) =>
    withClient(context, args, async (client) => {
      const fleet = fleetCarrier({ client, clock: context.clock, random: context.random, log: context.log });
      const names = args.many('node');
      const found =
        names.length > 0
          ? await Promise.all(names.map((name) => fleet.read(name, context.signal)))
          : await fleet.list(context.signal, args.text('selector'));
      await show(context, args, {
        data: found.map(({ node, assigned, active, lastKnownGood, error, carrier }) => ({
          node,
          assigned,
          active,
          lastKnownGood,
          error,
          carrier,
        })),
        people: (how) => (found.length === 0 ? 'No nodes.\n' : table(columns(how.wide), found, how)),
      });
      return fine;
    }),
};

const columns = (wide: boolean): Column<FleetNode>[] => [
  { title: 'NODE', value: ({ node }) => node },
  { title: 'STATE', value: standingOf, paint: (cell, node, paint) => paintOf(standingOf(node), paint)(cell) },
  { title: 'ASSIGNED', value: (node) => sourceCell(node.reports ? node.assigned : node.wanted, wide) },
  { title: 'ACTIVE', value: (node) => (node.reports ? sourceCell(node.active, wide) : '') },
  { title: 'LAST KNOWN GOOD', value: (node) => (node.reports ? sourceCell(node.lastKnownGood, wide) : '') },
  { title: 'CARRIER', value: ({ carrier }) => carrier, wide: true },
  { title: 'ERROR', value: ({ error }) => error ?? '' },
];

function paintOf(standing: Standing, paint: Paint): (text: string) => string {
  switch (standing) {
    case 'error':
      return paint.red;
    case 'settled':
      return paint.green;
    case 'pending':
    case 'silent':
      return paint.yellow;
    case 'local':
      return (text) => text;
  }
}
