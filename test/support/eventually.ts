import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 5;

/**
 * Asks again and again for what a server, a process or a machine does in its own time, every 5 ms.
 * @param look - undefined or false as long as it has not happened
 * @param withinMs - only a failure takes as long: far more than anything here takes, on a busy machine too. @default 120_000
 * @param situation - what to say of the world besides when it did not happen
 * @throws after `withinMs`, naming `what`
 */
export async function eventually<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = 120_000,
  situation?: () => string | Promise<string>,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline)
      throw new Error(`it did not happen within ${withinMs} ms: ${what}${situation ? `; ${await situation()}` : ''}`);
    await sleep(EVERY_MS);
  }
}
