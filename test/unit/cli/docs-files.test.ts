import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { nativeSupport } from '../../../agent/status/choose-carrier.ts';
import { statusErrors } from '../../../agent/status/node-config-state.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../../../agent/config/version.ts';
import { NEWEST_RELEASE, OLDEST_RELEASE } from '../../../cli/deploy/manifests.ts';
import { fatalRows, type Fate } from '../../support/fatal-rows.ts';
import { stories as daemonSetStories } from '../../support/stories/daemonset/all.ts';

const pages = globSync(['*.md', '{docs,test,bench,scripts,deploy,systemd}/**/*.md']);
const withoutBlocks = (page: string): string => readFileSync(page, 'utf8').replaceAll(/```.*?```/gs, '');

/** As GitHub makes it of a heading. */
function anchorOf(heading: string): string {
  const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return text.replaceAll(/[^\w\- ]/g, '').replaceAll(' ', '-');
}

function linkProblems(page: string): string[] {
  const targets = [...withoutBlocks(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => {
    if (/^[a-z]+:/.test(target)) return false;
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(file)) return true;
    if (anchor === undefined || !file.endsWith('.md')) return false;
    return ![...withoutBlocks(file).matchAll(/^#+ (.*)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor);
  });
}

const rooms = 'agent apiserver base bench cli controllers deploy docs fixtures kube scheduler scripts systemd test'.split(' ');
const path = new RegExp(`\`((?:${rooms.join('|')})/[\\w/.-]+)\``, 'g');
const codeFiles = new Set(globSync(`{${rooms.join(',')}}/**/*.ts`).map((file) => basename(file)));
const isPlaceholder = (text: string): boolean => /[A-Z]{4}/.test(text);

for (const page of pages)
  test(`links of ${page} lead somewhere, and the files that it names by their path are there`, () => {
    assert.deepEqual(linkProblems(page), []);
    const named = [...withoutBlocks(page).matchAll(path)].map(([, file = '']) => file);
    const files = [...withoutBlocks(page).matchAll(/`([a-z][\w.-]*\.ts)`/g)].map(([, file = '']) => file);
    assert.deepEqual(files.filter((file) => !codeFiles.has(file)), []); // prettier-ignore
    // The folders of deploy/ have a base of their own.
    assert.deepEqual(named.filter((file) => !isPlaceholder(file) && !existsSync(file) && !existsSync(join('deploy', file))), []); // prettier-ignore
  });

/** The last release of which servers keep Node.spec.configSource. */
function lastNative(): number {
  let minor = OLDEST_RELEASE;
  while (nativeSupport(`v1.${minor + 1}.0`, false, undefined) !== 'dropped') minor++;
  return minor;
}

test('the first screen of README.md has the versions that the code supports', () => {
  const [top = '', rest = ''] = readFileSync('README.md', 'utf8').split('| supported |');
  const rows: [string, number, number][] = [
    ['kubelets', OLDEST_MINOR, NEWEST_MINOR],
    ['API servers, assignment in a `NodeConfig`', OLDEST_RELEASE, NEWEST_RELEASE],
    ['API servers, assignment in `Node.spec.configSource`', OLDEST_RELEASE, lastNative()],
  ];
  assert.ok(top.split('\n').length < 30);
  for (const [row, from, to] of rows) assert.match(rest.split(`\n| ${row}`)[1] ?? '', new RegExp(`^[^|]*\\| 1\\.${from} to 1\\.${to}\\b`));
}); // prettier-ignore

const digits = (text = ''): number => Number(text.replaceAll(/[,_]/g, ''));
/** A number as a file of the code writes it. */
const inCode = (file: string, written: RegExp): number => digits(written.exec(readFileSync(file, 'utf8'))?.[1]);
const planted = globSync('scripts/mutants/*.txt').map((file) => readFileSync(file, 'utf8').match(/^@/gm)?.length ?? 0);

const figures: [page: string, says: RegExp, figure: number][] = [
  ['docs/testing.md', /memory is back to within (\d+) MB/, inCode('test/support/hostile/stage.ts', /MAX_LEFT_BYTES = (\d+) \* 2 \*\* 20;/)],
  ['docs/testing.md', /\((\d+) faults/, planted.reduce((sum, count) => sum + count, 0)],
  ['docs/testing.md', /plays (\d+) stories/, daemonSetStories.length],
  ['docs/limits.md', /fail above ([\d,]+) ms/, inCode('test/support/hostile/stage.ts', /MAX_SERVER_TURN_MS = ([\d_]+);/)],
]; // prettier-ignore
const eventReasons = ['event.ts', 'announcer.ts'].flatMap((file) => [
  ...readFileSync(`agent/events/${file}`, 'utf8').matchAll(/'(Kubelet(?!Configuration)\w+)'/g),
]);
const states = /stateText[^{]*\{(.*?)\n\}/s.exec(readFileSync('cli/node/status-text.ts', 'utf8'))?.[1] ?? '';
const lists: [what: string, words: string[]][] = [
  ['errors', Object.values(statusErrors).map((error) => `\n| \`${error}\` |`)],
  ['events', eventReasons.map(([, reason]) => `\n| \`${reason}\` |`)],
  ['states', [...states.matchAll(/: '(.*)',/g)].map(([, text]) => `State: ${text}`)],
]; // prettier-ignore
for (const [what, words] of lists)
  test(`docs/operations.md lists all ${what}`, () => {
    const page = readFileSync('docs/operations.md', 'utf8');
    assert.ok(words.length > 7, words.join());
    assert.deepEqual(words.filter((word) => !page.includes(word)), []); // prettier-ignore
  });

/** What becomes of a kubelet, as the fixtures and as the page say it. */
const fates: [Fate, string][] = [['dies', 'ends before it is up'], ['dies late', 'ends after it said'], ['never healthy', 'is never healthy'], ['not registered', 'does not register'], ['not Ready', 'is not Ready'], ['pods fail', 'fails pods'], ['server fails', 'is healthy, and its own']]; // prettier-ignore
test('docs/fatal-configurations.md counts the rows of the fixtures', () => {
  const page = readFileSync('docs/fatal-configurations.md', 'utf8');
  for (const [minor, file] of [['1.36', 'valid-but-fatal-1.36.yaml'], ['1.20', 'valid-but-fatal.yaml']] as const)
    for (const [fate, words] of fates) {
      const rows = (fatalRows(file)[minor] ?? []).filter(({ kubelet }) => kubelet === fate);
      const refused = rows.filter((row) => row.refused === true).length;
      const found = rows.filter(({ error }) => error !== undefined).length;
      const counts = [...(minor === '1.36' ? [refused] : []), found, rows.length - found - refused].join(' | ');
      if (rows.length > 0) assert.match(page.split(`| kubelet ${minor}`)[1]?.split('\n\n')[0] ?? '', new RegExp(`\n\\| ${words}[^|]*\\| ${counts} \\|`.replaceAll(' | ', ' \\| ')), fate);
    }
  assert.equal(digits(/(\d+) configurations of `lives/.exec(page)?.[1]), fatalRows('lives-1.36.yaml')['1.36']?.length);
}); // prettier-ignore

for (const [page, says, figure] of figures)
  test(`${page} has the figure of the code: ${says.source}`, () =>
    assert.equal(digits(says.exec(readFileSync(page, 'utf8'))?.[1]), figure));

const rollouts = readFileSync('docs/rollouts.md', 'utf8');
const proofs = [...rollouts.matchAll(/^\|.* \| `(test\/[\w/-]+\.test\.ts)`: (.+) \|$/gm)].map(([, file = '', title = '']) => ({
  file,
  title,
}));
for (const { file, title } of new Map(proofs.map((row) => [`${row.file} ${row.title}`, row])).values())
  test(`docs/rollouts.md names a test that is there: ${title}`, () => {
    const titles = [...readFileSync(file, 'utf8').matchAll(/\btest\(\s*(['"`])(.*?)\1,/gs)].map(([, , given = '']) => given.replace(/^\$\{\w+\} /, ''));
    assert.ok(titles.includes(title), `${file} has: ${titles.join('; ')}`);
  }); // prettier-ignore

test('docs/rollouts.md names every event of a rollout', () => {
  const planned = ['plan', 'forward', 'back'].map((name) => readFileSync(`controllers/rollout/${name}.ts`, 'utf8'));
  const quiet = new Set(/QUIET = new Set\(\[(.*)\]\)/.exec(planned.join())?.[1]?.match(/\w+/g));
  const said = planned.flatMap((text) => [...text.matchAll(/\b(reason: |say\((?:'[A-Z]\w+', (?='))?)'([A-Z]\w+)'/g)]);
  const reasons = new Set(said.flatMap(([, before, name = '']) => (before?.startsWith('say') || !quiet.has(name) ? [name] : [])));
  assert.ok(reasons.size > 18 && reasons.has('RevisionCreated') && reasons.has('Resume'), [...reasons].join());
  const events = /^Events on the rollout: .*$/m.exec(rollouts)?.[0] ?? '';
  assert.deepEqual([...reasons].filter((name) => !events.includes(`\`${name}\``)), []);
}); // prettier-ignore
