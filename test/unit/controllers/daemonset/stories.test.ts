import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Plan } from '../../../../controllers/daemonset/plan.ts';
import { isTerminating, isPlaced, nameOf } from '../../../../controllers/daemonset/pods.ts';
import type { DaemonSet } from '../../../../controllers/daemonset/types.ts';
import { replay } from '../../../support/transcript.ts';
import { actionsOf, daemonSet, node, numbersOf, templateOf, words } from './notation.ts';
import { Rehearsal } from './rehearsal.ts';

const dir = join(import.meta.dirname, '../../../transcripts/daemonset');

/**
 * | command | |
 * | --- | --- |
 * | `set image=v1 maxUnavailable=1` | the set as its author writes it: image, maxUnavailable, maxSurge, minReadySeconds, history; made by the first, changed by the others |
 * | `annotate partition=2`, `annotate partition` | sets one of our annotations; takes it away |
 * | `image v2 ready after 5`, `image v2 never ready` | how pods of it fare; after 2 seconds where nothing is said |
 * | `node a~` | adds or changes a node; marks as in notation.ts |
 * | `remove a`, `fails a`, `mends a` | a node goes, fails new pods, no longer does |
 * | `restart` | another process of the controller takes over |
 * | `run 10` | seconds |
 * | `pods` | who is there |
 */
class Story {
  #cluster: Rehearsal | undefined;
  #nodes: string[] = [];
  #told = new Map<string, string>();

  async run(command: string): Promise<string[]> {
    const [verb = '', ...args] = words(command);
    const lines: string[] = [];
    if (verb === 'run')
      for (let n = 0; n < Number(args[0]); n++) {
        for (const { pod, what } of await this.#rehearsal.second()) lines.push(`${this.#seconds}s ${pod} ${what}`);
        lines.push(...this.#looks());
      }
    else if (verb === 'pods') lines.push(this.#pods());
    else {
      this.#do(verb, args);
      lines.push(...this.#looks());
    }
    return lines;
  }

  get #rehearsal(): Rehearsal {
    assert.ok(this.#cluster !== undefined, 'a story begins with nodes and a set');
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
        this.#rehearsal.readyAfter.set(what, args[1] === 'never' ? Infinity : Number(args[3]));
        return;
      case 'node':
        if (this.#cluster === undefined) this.#nodes.push(...args);
        else for (const text of args) this.#rehearsal.change(text.replace(/[!~^:].*$/, ''), node(text));
        return;
      case 'remove':
        return this.#rehearsal.change(what, undefined);
      case 'fails':
        this.#rehearsal.failing.add(what);
        return;
      case 'mends':
        this.#rehearsal.failing.delete(what);
        return;
      case 'restart':
        return this.#rehearsal.restart();
      default:
        throw new Error(`nobody knows how to ${verb}`);
    }
  }

  #write(fields: Record<string, string>): void {
    const before = this.#cluster?.set;
    const { image, maxUnavailable, maxSurge, minReadySeconds, history } = fields;
    const number = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text);
    const made = before ?? { ...daemonSet(), metadata: { ...daemonSet().metadata, generation: 0 } };
    const spec = {
      ...made.spec,
      selector: { matchLabels: { app: 'x' } },
      template: image === undefined ? (made.spec?.template ?? templateOf('v1')) : templateOf(image),
      ...(maxUnavailable === undefined
        ? {}
        : { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: number(maxUnavailable) } } }),
      ...(maxSurge === undefined
        ? {}
        : { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: number(maxSurge) } } }),
      ...(minReadySeconds === undefined ? {} : { minReadySeconds: Number(minReadySeconds) }),
      ...(history === undefined ? {} : { revisionHistoryLimit: Number(history) }),
    } as DaemonSet['spec'];
    const after = { ...made, spec, metadata: { ...made.metadata, generation: (made.metadata.generation ?? 0) + 1 } } as DaemonSet;
    this.#cluster ??= new Rehearsal(after);
    this.#cluster.set = after;
    for (const text of this.#nodes.splice(0)) this.#do('node', [text]);
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
    for (const plan of this.#cluster.looks()) {
      const said = [
        ...this.#historyOf(plan),
        ...plan.events.map(({ reason }) => `event ${reason}`),
        this.#actionsOf(plan),
        ...this.#statusOf(plan),
      ];
      const line = said.filter((part) => part !== '').join('; ');
      if (line !== '') lines.push(`${this.#seconds}s ${line}`);
    }
    return lines;
  }

  #historyOf({ history, truncate }: Plan): string[] {
    const hash = (revision: Readonly<{ metadata: { labels?: Record<string, string> } }>): string =>
      this.#rehearsal.imageOf(revision.metadata.labels?.['controller-revision-hash']);
    return [
      ...history.map((step) => {
        if (step.do === 'create') return `revision ${hash(step.revision)} is #${step.revision.revision}`;
        return step.do === 'renumber' ? `revision ${hash(step.revision)} is #${step.to} now` : step.do;
      }),
      ...truncate.map((revision) => `revision ${hash(revision)} goes`),
    ];
  }

  #actionsOf({ creations, deletions }: Plan): string {
    return actionsOf({ creations: creations.map((one) => ({ ...one, hash: this.#rehearsal.imageOf(one.hash) })), deletions });
  }

  #statusOf({ status }: Plan): string[] {
    if (status === undefined) return [];
    const news = (status.conditions ?? []).flatMap(({ type, status: is, reason, message }) => {
      const text = `${type} ${is} ${reason}${is === 'True' && type === 'Stalled' ? `: ${message}` : ''}`;
      const isNews = this.#told.get(type) !== text;
      this.#told.set(type, text);
      return isNews ? [text] : [];
    });
    return [`status ${numbersOf(status)}`, ...news];
  }

  #pods(): string {
    const { pods } = this.#rehearsal;
    return pods
      .map((pod) => {
        const isReady = pod.status?.conditions?.[0]?.status === 'True';
        const image = this.#rehearsal.imageOf(pod.metadata.labels?.['controller-revision-hash']);
        return `${nameOf(pod)}@${image}${isReady ? '' : '!'}${isTerminating(pod) ? '-' : ''}${isPlaced(pod) ? '' : '?'}${pod.status?.phase === 'Failed' ? '#' : ''}`;
      })
      .toSorted()
      .join(' ');
  }
}

for (const name of readdirSync(dir).filter((file) => file.endsWith('.txt')))
  test(`story of a set: ${name.slice(0, -4).replaceAll('-', ' ')}`, async () => {
    const story = new Story();
    await replay(join(dir, name), (command) => story.run(command));
  });
