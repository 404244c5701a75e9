import { fine, type Command } from '../command.ts';

/** Longest single wait, in ms. */
const DAY_MS = 86_400_000;

export const hold: Command = {
  describe: `Waits for SIGTERM and does nothing else. The pod of the installer DaemonSet runs it once its node has the package: without rights, mounts and network.`,
  examples: [{ run: 'dkc deploy hold', what: 'in the pod of the installer DaemonSet' }],
  flags: [],
  positionals: [],
  async run({ clock, signal, stdout }) {
    stdout.write('this node has the package; nothing is left to do\n');
    while (!signal.aborted) await clock.sleep(DAY_MS, signal).catch(() => {});
    return fine;
  },
};
