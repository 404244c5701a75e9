import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { Story } from '../../support/story.ts';
import { parseTranscript, replay } from '../../support/transcript.ts';

const dir = join(import.meta.dirname, '../../transcripts');
const nodesOf = (name: string): string[] => (name.startsWith('two-nodes') ? ['node-a', 'node-b'] : ['node-a']);
const files = readdirSync(dir).filter((file) => file.endsWith('.txt'));

/** What `disk broken` does: a story of it is played with each. */
const disksOf = (name: string): string[] => (name.startsWith('broken-disk') ? ['full', 'read-only'] : ['']);
const plays = files.flatMap((name) =>
  disksOf(name).map((disk) => ({ name, disk, title: `${name.slice(0, -4).replaceAll('-', ' ')} ${disk}`.trim() })),
);

for (const { name, disk, title } of plays) {
  test(`story: ${title}`, async () => {
    const story = new Story(nodesOf(name));
    try {
      await replay(join(dir, name), (command) => story.run(command.replace('disk broken', `disk ${disk}`)));
    } finally {
      assert.deepEqual(await story.end(), { sleepers: 0, watches: 0 }, 'an agent that ended left something behind');
    }
  });
}

/** Stories of Node.spec.configSource itself, of both objects, or of a version that is known by its number. */
const ofTheNode = /^(gate-off|empty-source|spoiled-checkpoint|(moves|nodeconfig)-.*)\.txt$/;

for (const { name, disk, title } of plays.filter((play) => !ofTheNode.test(play.name))) {
  test(`the same on NodeConfig: ${title}`, async () => {
    const exchanges = parseTranscript(await readFile(join(dir, name), 'utf8'));
    const story = new Story(nodesOf(name), 'nodeconfig');
    const [seen, expected] = [new Names(), new Names()];
    try {
      for (const { commands, expected: lines } of exchanges) {
        const told: string[] = [];
        for (const command of commands) told.push(...(await story.run(command.replace('disk broken', `disk ${disk}`))));
        assert.deepEqual(seen.plain(told), expected.plain(lines), `after ${commands.join(', ')}`);
      }
    } finally {
      assert.deepEqual(await story.end(), { sleepers: 0, watches: 0 }, 'an agent that ended left something behind');
    }
  });
}

/** Of a status and an event that both waited for the server, chance decides which comes first. */
function inOneOrder(lines: readonly string[]): string[] {
  const isByChance = (line = ''): boolean => /^([12]?\d|30)(\.\d)?s (status|event) /.test(line);
  const sorted = [...lines];
  for (let at = 1; at < sorted.length; at++) {
    const [before = '', after = ''] = sorted.slice(at - 1, at + 1);
    if (isByChance(before) && isByChance(after) && before.includes('s status ') && after.includes('s event ')) sorted.splice(at - 1, 2, after, before); // prettier-ignore
  }
  return sorted;
}

/**
 * Lines of a story without what differs between the two objects: uids and versions get numbers in the order in which they come, the annotation of the
 * Node is left out, and waits that chance decides are.
 */
class Names {
  readonly #known = new Map<string, string>();
  #last = '';

  plain(lines: readonly string[]): string[] {
    return inOneOrder(lines)
      .filter((line) => !line.includes('annotation dkc.dev/agent'))
      .map((line) => line.replace(/ trial=\S+$/, ''))
      .map((line) => line.replace(/^(\d+)(\.\d)?s /, (_all, seconds: string) => (Number(seconds) <= 30 ? '' : `${seconds}s `)))
      .map((line) => line.replaceAll(/\d{4}-\d\d-\d\dT[\d:]+Z exited/g, 'exited'))
      .map((line) => line.replaceAll(/uid-\d+|(?<=@|\/|ResourceVersion: )\d+/g, (name) => this.#name(name)))
      .filter((line) => !this.#isRepeated(line));
  }

  #name(name: string): string {
    const known = this.#known.get(name) ?? `${name.startsWith('uid') ? 'uid' : 'version'}-${this.#known.size}`;
    this.#known.set(name, known);
    return known;
  }

  /** The same status again says nothing. */
  #isRepeated(line: string): boolean {
    const text = /status .*/.exec(line)?.[0];
    if (text === undefined) return false;
    const isSame = text === this.#last;
    this.#last = text;
    return isSame;
  }
}
