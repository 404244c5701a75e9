import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ApiError } from '../../../../kube/client/errors.ts';
import type { Interceptor } from '../../../support/simulated/intercepted.ts';
import { replay } from '../../../support/transcript.ts';
import { pod } from '../builders.ts';
import { audit } from '../simulated/audit.ts';
import { Stage } from '../simulated/stage.ts';
import { SchedulerWorld } from '../simulated/world.ts';

const dir = join(import.meta.dirname, '../../../transcripts/scheduler');

/**
 * A scheduler and a StatefulSet controller on the embedded API server, in fake time. Kubelets take 1 s to start a pod, and 2 s to end it.
 *
 * | command | |
 * | --- | --- |
 * | `node a cpu=4` | a node |
 * | `set web cpu=1 replicas=3 on=a` | a set; `parallel`, and `unavailable=2` for how many may go at once |
 * | `pod rival cpu=1 priority=100 on=a count=10` | pods; more than one get numbers |
 * | `roll web image=v2 cpu=2` | another template |
 * | `scale web 2`, `delete web-2`, `cordon a` | |
 * | `refuse 2` | the next so many bindings get a 500 |
 * | `deaf`, `hear` | events of pods are not heard until then, and what was missed is found in a list |
 * | `halt`, `resume` | the StatefulSet controller ends; there is one again |
 * | `run 5` | seconds, and what was seen to happen in them |
 * | `pods`, `rooms` | who is where; what is kept |
 */
class Story implements Interceptor {
  readonly lines: string[] = [];
  readonly #world: SchedulerWorld;
  readonly #stage: Stage;
  #refusals = 0;
  #heard = Promise.resolve();
  #hear: (() => void) | undefined;
  #told = '';

  private constructor(world: SchedulerWorld) {
    this.#world = world;
    this.#stage = new Stage(world);
    const { storage } = world.api.hooks;
    const nodeOf = new Map<string, string>();
    storage.onChange((kind, { object, type }) => {
      if (kind !== '/pods') return;
      const { name, uid = '', deletionTimestamp } = object.metadata;
      const { nodeName = '' } = (object['spec'] ?? {}) as { nodeName?: string };
      const was = nodeOf.get(uid);
      nodeOf.set(uid, `${nodeName} ${deletionTimestamp ?? ''}`);
      if (type === 'DELETED') this.#say(name, ': gone');
      else if (was === undefined) this.#say(name, ': made');
      else if (was.startsWith(' ') && nodeName !== '') this.#say(name, `: bound to ${nodeName}`);
      else if (was.endsWith(' ') && deletionTimestamp !== undefined) this.#say(name, ': on the way out');
    });
  }

  static async start(): Promise<Story> {
    const story = new Story(await SchedulerWorld.make({ pace: { bindMs: () => 0, startMs: () => 1_000, endMs: () => 2_000 } }));
    story.#world.start(story);
    await story.#world.clock.advance(1_000);
    return story;
  }

  async call(call: Parameters<Interceptor['call']>[0], pass: () => Promise<unknown>): Promise<unknown> {
    if (call.resource === 'events') {
      const { reason, message, involvedObject } = call.body as { reason: string; message: string; involvedObject: { name: string } };
      if (reason !== 'Scheduled') this.#say(involvedObject.name, `: ${reason}: ${message.replace(/[0-9a-f-]{36}/, 'UID')}`);
    }
    if (call.resource !== 'pods/binding' || this.#refusals === 0) return pass();
    this.#refusals -= 1;
    this.#say(`binding ${call.key}`, ': failed');
    throw new ApiError(
      { method: 'POST', path: call.key, host: 'local' },
      { code: 500, reason: 'InternalError', message: 'the test says so' },
    );
  }

  async *watch(
    { resource, signal }: Parameters<NonNullable<Interceptor['watch']>>[0],
    pass: Parameters<NonNullable<Interceptor['watch']>>[1],
  ): ReturnType<NonNullable<Interceptor['watch']>> {
    for await (const event of pass()) {
      if (resource === 'pods' && this.#hear !== undefined) {
        await this.#heard;
        if (signal?.aborted === true) return;
        throw new ApiError({ method: 'GET', path: 'pods', host: 'local' }, { code: 410, reason: 'Expired', message: 'too old' });
      }
      yield event;
    }
  }

  async run(command: string): Promise<string[]> {
    const [verb = '', ...args] = command.split(/\s+/);
    const [what = ''] = args;
    const given = Object.fromEntries(args.filter((arg) => arg.includes('=')).map((arg) => arg.split('=') as [string, string]));
    await this.#do(verb, what, given, args);
    return this.lines.splice(0);
  }

  /** @returns what is wrong at the end */
  async end(): Promise<string[]> {
    const { api, clock, parts } = this.#world;
    await clock.advance(1_000_000);
    const problems = parts === undefined ? ['no scheduler'] : audit({ api, clock, parts });
    const kept = parts?.reservations.list().map(({ name }) => `room is kept for ${name}`) ?? [];
    await this.#world.stop();
    return [...problems, ...kept];
  }

  async #do(verb: string, what: string, given: Record<string, string>, args: string[]): Promise<void> {
    const { cpu = '1', on, image = 'v1', replicas = '3', unavailable, priority = '0', count } = given;
    const [world, stage] = [this.#world, this.#stage];
    const nodeSelector: Record<string, string> = on === undefined ? {} : { 'kubernetes.io/hostname': on };
    const verbs: Record<string, () => unknown> = {
      node: () => stage.begin([{ name: what, allocatable: { cpu } }]),
      set: () => {
        const rollingUpdate = unavailable === undefined ? {} : { rollingUpdate: { maxUnavailable: Number(unavailable) } };
        const podManagementPolicy = args.includes('parallel') ? 'Parallel' : 'OrderedReady';
        const updateStrategy = { type: 'RollingUpdate', ...rollingUpdate };
        stage.addSet(what, cpu, { replicas: Number(replicas), podManagementPolicy, updateStrategy }, { nodeSelector });
      },
      pod: () => {
        const names = count === undefined ? [what] : Array.from({ length: Number(count) }, (_, n) => `${what}-${n}`);
        stage.add(...names.map((name) => pod(name).cpu(cpu).priority(Number(priority)).selects(nodeSelector)));
      },
      roll: () => stage.roll(what, { image, resources: { requests: { cpu } } }),
      scale: () => stage.scale(what, Number(args[1])),
      delete: () => stage.delete(what),
      cordon: () => world.patchNode(what, { spec: { unschedulable: true } }),
      refuse: () => (this.#refusals = Number(what)),
      deaf: () => {
        const { promise, resolve } = Promise.withResolvers<void>();
        [this.#heard, this.#hear] = [promise, resolve];
      },
      hear: () => {
        this.#hear?.();
        this.#hear = undefined;
      },
      halt: () => void world.stopControllers(),
      resume: () => world.startControllers(),
      run: () => world.clock.advance(Number(what) * 1_000),
      pods: () => this.lines.push(...this.#places()),
      rooms: () =>
        this.lines.push(
          ...(world.parts?.reservations.list() ?? []).map(
            (room) => `${room.name} on ${room.node}: ${room.heldPod.requests.cpu}m, ${room.state}`,
          ),
        ),
    };
    await (verbs[verb] ?? (() => assert.fail(`nobody knows ${verb}`)))();
  }

  #places(): string[] {
    const pods = this.#world.pods();
    const placed = pods
      .filter(({ spec }) => spec?.nodeName)
      .map(({ metadata, spec }) => `${metadata.name} ${spec?.containers[0]?.image} on ${spec?.nodeName}`);
    const waiting = pods.filter(({ spec }) => !spec?.nodeName).map(({ metadata }) => metadata.name ?? '');
    return [...placed.toSorted(), ...(waiting.length === 0 ? [] : [`waiting: ${waiting.toSorted().join(' ')}`])];
  }

  /** What happens alike to several, one after the other, is one line: `7s a, b: made`. */
  #say(name: string | undefined, what: string): void {
    const [at, last] = [`${this.#world.seconds()}s `, this.lines.at(-1)];
    const isAlike = last !== undefined && last === this.#told && last.startsWith(at) && last.endsWith(what);
    this.#told = isAlike ? `${last.slice(0, -what.length)}, ${name}${what}` : `${at}${name}${what}`;
    if (isAlike) this.lines.pop();
    this.lines.push(this.#told);
  }
}

for (const file of readdirSync(dir).toSorted())
  test(`scheduler: ${file.replace('.txt', '').replaceAll('-', ' ')}`, async () => {
    const story = await Story.start();
    try {
      await replay(join(dir, file), (command) => story.run(command));
    } finally {
      const problems = await story.end();
      assert.deepEqual(problems, []);
    }
  });
