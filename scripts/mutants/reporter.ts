import type { EventData } from 'node:test';

/** Result of one test. */
export interface TestEnded {
  name: string;
  file: string | undefined;
  passed: boolean;
}

/** A reporter for `node --test`: a JSON line for each test, as soon as it ends, so that the run can be stopped at the first failure. */
// oxlint-disable-next-line no-default-export -- Node's runner loads the default export of a reporter
export default async function* eachTest(events: AsyncIterable<{ type: string; data: unknown }>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== 'test:complete') continue;
    const { name, file, todo, details } = data as EventData.TestComplete;
    const passed = details.passed || (todo !== undefined && todo !== false);
    yield `\n${JSON.stringify({ name, file, passed } satisfies TestEnded)}\n`;
  }
}
