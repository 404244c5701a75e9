import { fine, type Command } from '../command.ts';

/** Longest single wait, in ms. */
const DAY_MS = 86_400_000;

export const hold: Command = {
  describe: `Does nothing until it is asked to end. The installer DaemonSet's pod stays with it once its node has the package: without rights, without mounts, without network.`,
  examples: [{ run: 'dkc deploy hold', what: 'in the pod of the installer DaemonSet' }],
  flags: [],
  positionals: [],
  async run({ clock, signal, stdout }) {
    stdout.write('this node has the package; nothing is left to do\n');
    while (!signal.aborted) await clock.sleep(DAY_MS, signal).catch(() => {});
    return fine;
  },
};
