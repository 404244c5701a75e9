import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;

/**
 * Asks again and again for what a server does in its own time.
 * @param ask - undefined as long as it has not happened
 * @throws after `withinMs`, naming `what`
 */
export async function eventually<T>(what: string, ask: () => Promise<T | undefined>, withinMs = 90_000): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() > deadline) throw new Error(`it did not happen within ${withinMs} ms: ${what}`);
    await sleep(EVERY_MS);
  }
}
