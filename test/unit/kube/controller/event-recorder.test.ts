import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from '../../../support/table.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { KubeObject } from '../../../../kube/api/object.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { ApiError, TransportError } from '../../../../kube/client/errors.ts';
import type { TransportProblem } from '../../../../kube/client/errors.ts';
import type { EventType } from '../../../../kube/controller/event.ts';
import { EventSender } from '../../../../kube/controller/event-recorder.ts';
import type { EventSenderOptions } from '../../../../kube/controller/event-recorder.ts';
import { atRest, FakeClock } from '../../../support/fake-clock.ts';
import { recordedLog } from '../../../support/recorded-log.ts';

const call = { method: 'POST', path: '/events', host: 'h' };
const never = new AbortController().signal;

function fails(what: number | TransportProblem): Error {
  if (typeof what === 'string') return new TransportError(call, what, { hint: 'no' });
  const reason = ({ 404: 'NotFound', 409: 'AlreadyExists' } as Record<number, string>)[what] ?? 'Other';
  return new ApiError(call, { code: what, reason, message: 'no' });
}

/** `lost:` did it, and the answer is lost. */
type Fault = number | TransportProblem | Error | 'lost' | 'hang' | undefined;

/** Holds Events as a server does; goes wrong as told, call after call. */
class Stage {
  readonly clock = new FakeClock();
  readonly calls: string[] = [];
  readonly events = new Map<string, KubeObject>();
  readonly told: string[] = [];
  readonly logged = recordedLog();
  faults: Fault[] = [];
  always: Fault;
  readonly sender: EventSender;

  constructor(options: Partial<EventSenderOptions> = {}) {
    const client = {
      create: (_: unknown, event: KubeObject, { signal }: { signal: AbortSignal }) =>
        this.#call('create', `${event.metadata.namespace}/${event.metadata.name}`, signal, (name) => {
          if (this.events.has(name)) throw fails(409);
          this.events.set(name, event);
        }),
      patch: (_: unknown, ref: { name: string; namespace: string }, patch: object, { signal }: { signal: AbortSignal }) =>
        this.#call('patch', `${ref.namespace}/${ref.name}`, signal, (name) => {
          const event = this.events.get(name);
          if (event === undefined) throw fails(404);
          this.events.set(name, { ...event, ...patch });
        }),
    } as unknown as Pick<Client, 'create' | 'patch'>;
    this.sender = new EventSender({
      client,
      clock: this.clock,
      random: seededRandom(1),
      log: this.logged.log,
      metrics: {
        sent: (how) => this.told.push(how),
        dropped: (why) => this.told.push(`dropped: ${why}`),
        retried: () => this.told.push('retried'),
        waiting() {},
      },
      ...options,
    });
  }

  say(name: string, message = 'm', reason = 'R', type: EventType = 'Normal'): void {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns', uid: name } };
    this.sender.recorder('c').event(object, type, reason, message);
  }

  /** `name x count message`, as the server has them. */
  get kept(): string[] {
    return [...this.events.values()].map((event) => {
      const { name } = event['involvedObject'] as { name: string };
      return `${name} x${String(event['count'])} ${String(event['message'])}`;
    });
  }

  async #call(verb: string, name: string, signal: AbortSignal, act: (name: string) => void): Promise<KubeObject> {
    const fault = this.faults.length > 0 ? this.faults.shift() : this.always;
    this.calls.push(fault === undefined ? verb : `${verb} ${String(fault)}`);
    await Promise.resolve();
    if (fault === 'hang') return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    if (fault === undefined || fault === 'lost') act(name);
    if (fault !== undefined) throw fault instanceof Error ? fault : fails(fault === 'lost' ? 'cut' : fault);
    return { metadata: {} };
  }
}

const faultOf = (text: string): Fault => (/^\d/.test(text) ? Number(text) : /^-?$/.test(text) ? undefined : (text as Fault));

// What happens: `p` an event about pod p, `.` everything comes to rest, `forget` the server forgets its events, `later` a minute passes.
// `faults` are what becomes of the calls, one after the other, `-` where one is done; `kept` is what the server has in the end.
const sendings = table('happens | faults | calls | kept | why')(`
  p . p .        |             | create, patch                  | p x2 m | an event is created, and patched when it happens again
  p p .          |             | create                         | p x2 m | what happens again before it is sent is sent once
  p p later      | 500 500     | create 500, create 500, create | p x2 m | a server that is broken for a moment is asked again
  p p later      | lost        | create lost, create            | p x2 m | a creation whose answer is lost is made once
  p p later      | 403         | create 403                     |        | a refusal is final
  p p later      | 409         | create 409                     |        | a name that another event has is final
  p . p later | lost | create lost, create, patch | p x2 m
    | what happens again while its creation is in doubt is patched, not created beside it
  p . forget p . |             | create, patch, create          | p x2 m | an event that the server forgot is created with its count
  p . p later    | - 404 409   | create, patch 404, create 409  | p x1 m | a server that contradicts itself is not asked for ever
  p . p later    | - lost      | create, patch lost, patch      | p x2 m | a patch whose answer is lost counts nothing twice
`);
for (const { why, happens, faults, calls, kept } of sendings)
  test(`events: ${why}`, async () => {
    const stage = new Stage();
    stage.faults = faults.split(' ').map(faultOf);
    for (const word of happens.split(' ')) {
      if (word === '.') await atRest();
      else if (word === 'later') await stage.clock.advance(60_000);
      else if (word === 'forget') stage.events.clear();
      else stage.say(word);
    }
    assert.equal(stage.calls.join(', '), calls);
    assert.equal(stage.kept.join(', '), kept);
    if (kept === 'p x1 m') assert.equal(stage.told.at(-1), 'dropped: refused');
    assert.deepEqual([stage.clock.sleepers, stage.sender.waiting], [0, 0]);
  });

test('one event that always fails keeps no other one waiting for long, and is given up; a server that asks to stay away is obeyed', async () => {
  const stage = new Stage();
  stage.faults = [500];
  stage.say('bad');
  stage.say('good');
  await stage.clock.advance(2_000);
  assert.deepEqual(stage.kept, ['good x1 m', 'bad x1 m']);
  stage.always = Object.assign(fails(503), { retryAfterMs: 3_600_000 });
  stage.say('worse');
  await stage.clock.advance(59_000);
  assert.equal(stage.calls.length, 4);
  await stage.clock.advance(600_000);
  assert.equal(stage.told.at(-1), 'dropped: failed');
  assert.deepEqual([stage.calls.length, stage.clock.sleepers], [3 + 8, 0]);
});

test('when too many wait the newest is left out, which is counted and said once in a while', async () => {
  const stage = new Stage({ capacity: 3 });
  for (let at = 0; at < 10; at++) stage.say(`p${at}`);
  stage.say('p0'); // waits already, so it needs no room
  await atRest();
  assert.deepEqual(stage.kept, ['p0 x2 m', 'p1 x1 m', 'p2 x1 m']);
  assert.equal(stage.told.filter((word) => word === 'dropped: full').length, 7);
  assert.deepEqual(stage.logged.lines, ['warn: events are dropped']);
  stage.say('p9');
  await atRest();
  assert.equal(stage.kept.at(-1), 'p9 x2 m', 'what was left out is in the count of the next');
});

test('an event never throws, whatever it is given', () => {
  const stage = new Stage();
  const recorder = stage.sender.recorder('c');
  recorder.event({ metadata: { name: 'of no kind' } }, 'Normal', 'R', 'm');
  recorder.event(null as unknown as KubeObject, 'Normal', 'R', 'm');
  recorder.event({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } }, 'Normal', 'R', undefined as unknown as string);
  assert.deepEqual(stage.told, ['dropped: invalid', 'dropped: invalid', 'dropped: invalid']);
});

test('close sends what it can within its time, and lets go of the rest', async () => {
  const stage = new Stage();
  stage.say('sent');
  await stage.sender.close(never);
  assert.deepEqual(stage.kept, ['sent x1 m']);
  stage.say('too late');
  await atRest();
  assert.deepEqual(stage.kept, ['sent x1 m']);

  const stuck = new Stage();
  stuck.always = 'hang';
  for (const name of ['a', 'b', 'c']) stuck.say(name);
  let closed = false;
  const closing = stuck.sender.close(never).then(() => (closed = true));
  await stuck.clock.advance(1_999);
  assert.equal(closed, false);
  await stuck.clock.advance(1);
  await closing;
  assert.deepEqual(stuck.told, ['dropped: closed', 'dropped: closed', 'dropped: closed']);
  assert.deepEqual(stuck.logged.fields, [{ why: 'closed', dropped: 3 }]);
  assert.deepEqual([stuck.clock.sleepers, stuck.sender.waiting], [0, 0]);
});
