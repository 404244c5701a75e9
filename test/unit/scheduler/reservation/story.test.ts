import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { PodInfo } from '../../../../scheduler/pod/pod-info.ts';
import type { Dropped, Reservation, Reservations } from '../../../../scheduler/reservation/contract.ts';
import { placedEvent } from '../../../../scheduler/reservation/reporting.ts';
import { createReservations } from '../../../../scheduler/reservation/reservations.ts';
import type { Node, StatefulSet } from '../../../../scheduler/types.ts';
import { replay } from '../../../support/transcript.ts';
import { node } from '../builders.ts';
import { config, info, isOurs, member, SECOND, successor, T0, web } from './situations.ts';

/**
 * What is done to kept room, in words, and what comes of it.
 *
 *   delete web-2 n1 [cpu=1] [priority=0] [hash=old]    a pod that was on n1 is gone
 *   see web-2 [uid=..] [cpu=1] [priority=0] [free=0] [by=SCHEDULER] [disk=ssd]    its successor is there; so much cpu is free beside all that is kept
 *   refused, gone web-2 [uid=..]; placed web-2 NODE    what becomes of it
 *   assume web-2 NODE [uid=..]; bound, unbound web-2   it is given a place; binding succeeds or fails
 *   still-there web-2                                  the old pod is still in the API
 *   set [replicas=3] [by=SCHEDULER] | set gone         how StatefulSet web is now
 *   node n1 [cordoned] [gone] [label=disk:ssd]         how a node is now
 *   recheck n1 cpu=1                                   so much of it is there for what is kept
 *   who-sees web-2 POD [priority=0]                    whether that pod has to leave the room alone
 *   wait 60s
 *   show
 */
class Story {
  readonly kept: Reservations = createReservations(config(), isOurs);
  now = T0;
  readonly #seen = new Map<string, PodInfo>();
  readonly #released = new Map<string, { reservation: Reservation; on: string }>();
  #set: StatefulSet | undefined = web();
  readonly #nodes = new Map<string, Node | undefined>();

  run(command: string): string[] {
    const [verb = '', ...words] = command.split(/\s+/);
    const options = new Map(words.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]));
    const [what = '', where = ''] = words.filter((word) => !word.includes('='));
    const option = (name: string, otherwise: string): string => options.get(name) ?? otherwise;
    switch (verb) {
      case 'delete':
        return this.#delete(what, where, option);
      case 'see':
        return this.#see(what, option);
      case 'refused':
        this.kept.podFailed(this.#pod(what, option), this.now);
        return this.#show();
      case 'gone':
        this.kept.pendingPodDeleted(this.#pod(what, option), this.now);
        return this.#show();
      case 'placed':
        return told(this.kept.podPlaced(info(successor(what).on(where))));
      case 'assume':
        return this.#assume(what, where, option);
      case 'bound':
        return this.#bound(what);
      case 'unbound':
        return this.#unbound(what);
      case 'still-there':
        for (const one of this.kept.list()) if (one.name === what) this.kept.oldStillThere(one, this.now);
        return this.#show();
      case 'set':
        this.#set =
          what === 'gone'
            ? undefined
            : web({ spec: { replicas: Number(option('replicas', '3')) }, schedulerName: option('by', 'default-scheduler') });
        return told(this.kept.setChanged('uid-web', this.#set));
      case 'node':
        return this.#node(what, words.slice(1));
      case 'recheck':
        return told(this.kept.recheck(what, (together) => sum(together) <= milli(option('cpu', '0'))));
      case 'who-sees':
        return this.#whoSees(what, where, option);
      case 'wait':
        this.now += Number.parseFloat(what) * SECOND;
        return told(this.kept.expire(this.now));
      case 'show':
        return this.#show();
      default:
        throw new RangeError(`no such command: ${command}`);
    }
  }

  #delete(name: string, on: string, option: Option): string[] {
    const gone = member(name, on).cpu(option('cpu', '1')).priority(Number(option('priority', '0'))).labels({ 'controller-revision-hash': option('hash', 'old') }).uid(option('uid', `old-${name}`)); // prettier-ignore
    const facts = { pod: info(gone), unseen: false, set: this.#set, newestRevision: 'new', node: this.#nodeOf(on), now: this.now };
    const { decision, dropped } = this.kept.podDeleted(facts);
    return [...told(dropped), ...(decision.keep ? this.#show() : [`not kept: ${decision.why}`])];
  }

  #see(name: string, option: Option): string[] {
    const there = successor(name, option('cpu', '1'), option('uid', `new-${name}`)).priority(Number(option('priority', '0')));
    if (option('disk', '') !== '') there.selects({ disk: option('disk', '') });
    const pod = info(there.spec({ schedulerName: option('by', 'default-scheduler') }));
    this.#seen.set(pod.uid, pod);
    const spare = { cpu: milli(option('free', '0')), memory: 0, ephemeral: 0, scalars: new Map<string, number>() };
    const seen = this.kept.podSeen(pod, (on) => ({ node: this.#nodeOf(on), spare }), this.now);
    const eased = seen.eased === undefined ? [] : [`less is kept: who has at most priority ${seen.eased.before.priority} may try`];
    return [...told(seen.dropped), ...eased, ...this.#show()];
  }

  #assume(name: string, on: string, option: Option): string[] {
    const reservation = this.kept.assumed(this.#pod(name, option));
    if (reservation === undefined) return ['nothing was kept for it'];
    this.#released.set(name, { reservation, on });
    return [`released on ${reservation.node}`];
  }

  #bound(name: string): string[] {
    const released = this.#released.get(name);
    if (released === undefined) return [];
    this.kept.bound(released.reservation);
    return [placedEvent(released.reservation, released.on).message];
  }

  #unbound(name: string): string[] {
    const released = this.#released.get(name);
    if (released === undefined) return [];
    return this.kept.restore(released.reservation, this.now) === undefined ? ['not kept again'] : this.#show();
  }

  #node(name: string, words: readonly string[]): string[] {
    const of = node(name);
    if (words.includes('cordoned')) of.cordoned();
    for (const word of words) if (word.startsWith('label=')) of.labels(Object.fromEntries([word.slice(6).split(':') as [string, string]]));
    this.#nodes.set(name, words.includes('gone') ? undefined : of.build());
    return told(this.kept.nodeChanged(name, this.#nodeOf(name)));
  }

  #whoSees(name: string, who: string, option: Option): string[] {
    const pod = info(successor(who).priority(Number(option('priority', '0'))));
    const room = this.kept.list().find((one) => one.name === name);
    return room === undefined ? ['nothing is kept'] : [`${who} ${this.kept.isVisibleTo(room, pod) ? 'leaves it alone' : 'may have it'}`];
  }

  #nodeOf(name: string): Node | undefined {
    return this.#nodes.has(name) ? this.#nodes.get(name) : node(name).build();
  }

  #pod(name: string, option: Option): PodInfo {
    return this.#seen.get(option('uid', `new-${name}`)) ?? info(successor(name, '1', option('uid', `new-${name}`)));
  }

  #show(): string[] {
    const lines = this.kept.list().map(({ name, node, heldPod, priority, state, expiresAt }) => `${name} on ${node}: cpu ${heldPod.requests.cpu / 1_000}, priority ${priority}, ${state}, ${Math.round((expiresAt - this.now) / SECOND)} s left`); // prettier-ignore
    return lines.length === 0 ? ['nothing is kept'] : lines;
  }
}

type Option = (name: string, otherwise: string) => string;

function told(dropped: readonly Dropped[]): string[] {
  return dropped.map(
    ({ reservation: { name, node, priority }, why, result }) =>
      `${result} ${name} on ${node}: ${why}; who has at most priority ${priority} may try`,
  );
}

function milli(cpu: string): number {
  return Math.round(Number(cpu) * 1_000);
}

function sum(kept: readonly Reservation[]): number {
  return kept.reduce((total, { heldPod }) => total + heldPod.requests.cpu, 0);
}

const dir = join(import.meta.dirname, 'transcripts');

for (const file of readdirSync(dir).filter((name) => name.endsWith('.txt')))
  test(`kept room: ${file.slice(0, -4).replaceAll('-', ' ')}`, async () => {
    const story = new Story();
    await replay(join(dir, file), (command) => Promise.resolve(story.run(command)));
  });
