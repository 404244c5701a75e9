import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { StatefulSet } from '../../../../controllers/statefulset/types.ts';
import { replay } from '../../../support/transcript.ts';
import { actionsOf, numbersOf, templateOf, words } from './notation.ts';
import { statefulSet } from './objects.ts';
import { Rehearsal, type Look } from './rehearsal.ts';

const dir = join(import.meta.dirname, '../../../transcripts/statefulset');

/**
 * | command | |
 * | --- | --- |
 * | `set image=v1 replicas=3` | the set as its author writes it: image, replicas, start, policy, strategy, partition, maxUnavailable, minReady, history; made by the first, changed by the others |
 * | `annotate paused=true`, `annotate paused` | sets one of our annotations; takes it away |
 * | `image v2 ready after 5`, `image v2 never ready`, `image v2 fails`, `image v2 nowhere` | how pods of it fare, the last gets to no node; ready after 2 seconds where nothing is said |
 * | `delete 2`, `force 2` | a person deletes web-2; without waiting for its node |
 * | `unready 2`, `ready 2` | web-2 is not ready any more, and will not be; may be again |
 * | `lost 2` | nobody hears of the node of web-2 any more |
 * | `run 10` | seconds |
 * | `pods`, `why` | who is there; what the set waits for |
 */
class Story {
  #cluster: Rehearsal | undefined;
  #images: string[][] = [];
  #told = new Map<string, string>();
  #current = '?';

  async run(command: string): Promise<string[]> {
    const [verb = '', ...args] = words(command);
    const lines: string[] = [];
    if (verb === 'run')
      for (let n = 0; n < Number(args[0]); n++) {
        for (const { pod, what } of await this.#rehearsal.second()) lines.push(`${this.#seconds}s ${pod} ${what}`);
        lines.push(...this.#looks());
      }
    else if (verb === 'pods') lines.push(this.#pods());
    else if (verb === 'why')
      lines.push(...this.#rehearsal.explained().map(({ object, reason, detail }) => `${object} ${reason}: ${detail}`));
    else {
      this.#do(verb, args);
      lines.push(...this.#looks());
    }
    return lines;
  }

  get #rehearsal(): Rehearsal {
    assert.ok(this.#cluster !== undefined, 'a story begins with a set');
    return this.#cluster;
  }

  get #seconds(): number {
    return (this.#rehearsal.clock.now() - Date.parse('2026-03-01T12:00:00Z')) / 1_000;
  }

  #do(verb: string, args: string[]): void {
    const [what = ''] = args;
    switch (verb) {
      case 'set':
        return this.#write(Object.fromEntries(args.map((arg) => arg.split('=') as [string, string])));
      case 'annotate':
        return this.#annotate(what);
      case 'image':
        if (this.#cluster === undefined) this.#images.push(args);
        else this.#fare(args);
        return;
      case 'delete':
        return this.#rehearsal.delete(`web-${what}`);
      case 'force':
        return this.#rehearsal.delete(`web-${what}`, true);
      case 'unready':
        for (const ordinal of args) this.#rehearsal.unready.add(`web-${ordinal}`);
        return;
      case 'ready':
        for (const ordinal of args) this.#rehearsal.unready.delete(`web-${ordinal}`);
        return;
      case 'lost':
        this.#rehearsal.lost.add(`web-${what}`);
        return;
      default:
        throw new Error(`nobody knows how to ${verb}`);
    }
  }

  #fare([image = '', how, , seconds]: string[]): void {
    const { failing, nowhere, readyAfter } = this.#rehearsal;
    if (how === 'fails') failing.add(image);
    else if (how === 'nowhere') nowhere.add(image);
    else readyAfter.set(image, how === 'never' ? Infinity : Number(seconds));
  }

  #write(fields: Record<string, string>): void {
    const before = this.#cluster?.set;
    const made = before ?? statefulSet({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: {} } } });
    const number = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);
    const { image, replicas, start, policy, strategy, minReady, history } = fields;
    const rollingUpdate = {
      ...made.spec?.updateStrategy?.rollingUpdate,
      ...(fields['partition'] === undefined ? {} : { partition: Number(fields['partition']) }),
      ...(fields['maxUnavailable'] === undefined ? {} : { maxUnavailable: number(fields['maxUnavailable']) }),
    };
    const type = strategy ?? made.spec?.updateStrategy?.type ?? 'RollingUpdate';
    const hasBlock = type === 'RollingUpdate' && (strategy === type || made.spec?.updateStrategy?.rollingUpdate !== undefined);
    const updateStrategy = { type: type === 'nil' ? 'RollingUpdate' : type, ...(hasBlock ? { rollingUpdate } : {}) };
    const after = {
      ...made,
      metadata: { ...made.metadata, generation: before === undefined ? 1 : (made.metadata.generation ?? 0) + 1 },
      spec: {
        ...made.spec,
        template: image === undefined ? made.spec?.template : templateOf(image),
        updateStrategy,
        ...(replicas === undefined ? {} : { replicas: Number(replicas) }),
        ...(start === undefined ? {} : { ordinals: { start: Number(start) } }),
        ...(policy === undefined ? {} : { podManagementPolicy: policy }),
        ...(minReady === undefined ? {} : { minReadySeconds: Number(minReady) }),
        ...(history === undefined ? {} : { revisionHistoryLimit: Number(history) }),
      },
      status: made.status ?? { replicas: 0 },
    } as StatefulSet;
    this.#cluster ??= new Rehearsal(after);
    this.#cluster.set = after;
    for (const image of this.#images.splice(0)) this.#fare(image);
  }

  #annotate(text: string): void {
    const [name = '', value] = text.split('=');
    const { set } = this.#rehearsal;
    const { [`dkc.dev/${name}`]: _, ...others } = set.metadata.annotations ?? {};
    const annotations = value === undefined ? others : { ...others, [`dkc.dev/${name}`]: value };
    this.#rehearsal.set = { ...set, metadata: { ...set.metadata, annotations } };
  }

  #looks(): string[] {
    if (this.#cluster === undefined) return [];
    const lines: string[] = [];
    for (const look of this.#rehearsal.looks()) {
      const said = [...this.#historyOf(look), this.#actionsOf(look), ...this.#statusOf(look)];
      const line = said.filter((part) => part !== '').join('; ');
      if (line !== '') lines.push(`${this.#seconds}s ${line}`);
    }
    return lines;
  }

  #historyOf({ plan, steps }: Look): string[] {
    return [
      ...steps.map((step) => {
        if (step.do === 'create') return `revision ${this.#rehearsal.imageOf(step.revision.metadata.name)} is #${step.revision.revision}`;
        return step.do === 'renumber' ? `revision ${this.#rehearsal.imageOf(step.revision.metadata.name)} is #${step.to} now` : step.do;
      }),
      ...plan.truncate.map(({ metadata }) => `revision ${this.#rehearsal.imageOf(metadata.name)} goes`),
    ];
  }

  /** Revisions by their image. */
  #actionsOf({ plan }: Look): string {
    return actionsOf(plan).replaceAll(/@([a-z0-9]+)/g, (_, hash: string) => `@${this.#rehearsal.imageOf(`web-${hash}`)}`);
  }

  #statusOf({ status }: Look): string[] {
    if (status === undefined) return [];
    const news = (status.conditions ?? []).flatMap(({ type, status: is, reason, message }) => {
      const text = `${type} ${is} ${reason}${is === 'True' && type === 'Stalled' ? `: ${message}` : ''}`;
      const isNews = this.#told.get(type) !== text;
      this.#told.set(type, text);
      return isNews ? [text] : [];
    });
    const current = this.#rehearsal.imageOf(status.currentRevision);
    const isNews = current !== this.#current;
    this.#current = current;
    return [`status ${numbersOf(status)}`, ...(isNews ? [`current ${current}`] : []), ...news];
  }

  #pods(): string {
    return this.#rehearsal.pods
      .toSorted((a, b) => (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '', 'en', { numeric: true }))
      .map(({ metadata: { name, labels, deletionTimestamp }, status }) => {
        const isReady = status?.conditions?.[0]?.status === 'True';
        const marks = `${isReady ? '' : '!'}${deletionTimestamp === undefined ? '' : '-'}${status?.phase === 'Failed' ? '#' : ''}`;
        return `${name?.slice(4)}@${this.#rehearsal.imageOf(labels?.['controller-revision-hash'])}${marks}`;
      })
      .join(' ');
  }
}

for (const name of readdirSync(dir).filter((file) => file.endsWith('.txt')))
  test(`story of a StatefulSet: ${name.slice(0, -4).replaceAll('-', ' ')}`, async () => {
    const story = new Story();
    await replay(join(dir, name), (command) => story.run(command));
  });
