import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plan } from '../../../../controllers/statefulset/plan.ts';
import { deletesCurrentPod, statusOf } from '../../../../controllers/statefulset/status.ts';
import { factsOf, type Situation } from './notation.ts';

/** What may be at an ordinal, as in notation.ts; '' is nothing. Of what has failed or goes the revision does not matter. */
const kinds = ['', 'new!', 'new', 'old!', 'old', 'new#', 'new-'] as const;
type Kind = (typeof kinds)[number];
/** What the controller does about each ordinal. */
type Calls = readonly ('create' | 'delete' | undefined)[];
type Options = Pick<Situation, 'parallel' | 'update'>;

const isReady = (kind: Kind | undefined): boolean => kind === 'new' || kind === 'old';

/** As the controller decides. The numbers of its status are looked at too. */
function decided(pods: readonly Kind[], replicas: number, options: Options): Calls {
  const text = pods.map((kind, ordinal) => (kind === '' ? '' : `${ordinal}@${kind}`)).join(' ');
  const facts = factsOf({ ...options, replicas, pods: text });
  const todo = plan(facts);
  const actions = todo.groups.flat();
  const calls = pods.map((): Calls[number] => undefined);
  for (const action of actions)
    if (action.do === 'delete') calls[Number(action.pod.metadata.name?.replace('web-', ''))] = 'delete';
    else if (action.do === 'create') calls[action.slot.ordinal] = 'create';
    else throw new Error(`nobody expects ${action.do}`);
  // As many as were deleted may be counted out: any of the calls may fail.
  for (let removed = 0; removed <= actions.filter((action) => deletesCurrentPod(facts, action)).length; removed++) {
    const { replicas: all, readyReplicas = 0, currentReplicas = 0, updatedReplicas = 0 } = statusOf(facts, todo, removed);
    const counts = [readyReplicas, currentReplicas, updatedReplicas];
    assert.ok(Math.min(...counts) >= 0 && Math.max(...counts) <= all, `${text}: the status cannot be`);
  }
  return calls;
}

type Judge = (pods: readonly Kind[], replicas: number, calls: Calls) => void;

/** Nothing is made that is there, or has no place; nothing is deleted that is not, or goes. */
const sane: Judge = (pods, replicas, calls) => {
  for (const [ordinal, call] of calls.entries())
    if (call === 'create') assert.ok(pods[ordinal] === '' && ordinal < replicas, `${ordinal} is made and is there, or has no place`);
    else if (call === 'delete') assert.ok(pods[ordinal] !== '' && pods[ordinal] !== 'new-', `${ordinal} is deleted and is not there`);
};

/** One thing at a time; what is made waits for all below it; what is available goes only while all places are well, and nothing above it is there. */
const inOrder: Judge = (pods, replicas, calls) => {
  sane(pods, replicas, calls);
  assert.ok(calls.filter(Boolean).length <= 1, 'two things at once');
  for (const [ordinal, call] of calls.entries()) {
    if (call === 'create') assert.ok(pods.slice(0, ordinal).every(isReady), `${ordinal} is made while one below is not available`);
    if (call !== 'delete' || !isReady(pods[ordinal])) continue;
    assert.ok(pods.slice(0, replicas).every(isReady), `${ordinal} is taken down while a place is not available`);
    if (ordinal >= replicas)
      assert.ok(
        pods.slice(ordinal + 1).every((kind) => kind === ''),
        `${ordinal} goes before those above`,
      );
  }
};

/** Of what is available no more is replaced at once than may be. @param most - undefined: one, whatever is down */
const inParallel =
  (most?: number): Judge =>
  (pods, replicas, calls) => {
    sane(pods, replicas, calls);
    const places = pods.slice(0, replicas);
    const replaced = places.filter((kind, ordinal) => calls[ordinal] === 'delete' && isReady(kind)).length;
    const down = most === undefined ? 0 : places.filter((kind) => !isReady(kind)).length;
    assert.ok(replaced === 0 || replaced <= (most ?? 1) - down, 'more is replaced at once than may be');
  };

const policies: { why: string; options: Options; judge: Judge }[] = [
  { why: 'in order', options: {}, judge: inOrder },
  { why: 'in parallel', options: { parallel: true }, judge: inParallel() },
  { why: 'in parallel, one may be down', options: { parallel: true, update: { maxUnavailable: 1 } }, judge: inParallel(1) },
  { why: 'in parallel, two may be down', options: { parallel: true, update: { maxUnavailable: 2 } }, judge: inParallel(2) },
  { why: 'Recreate', options: { update: 'Recreate' }, judge: sane },
];

/** What time alone makes of them when all goes well: kubelets start and end pods. */
const after = (pods: readonly Kind[], calls: Calls): Kind[] =>
  pods.map((kind, ordinal) => {
    if (calls[ordinal] === 'create') return 'new!';
    if (calls[ordinal] === 'delete') return kind === 'new#' ? '' : 'new-';
    if (kind === 'new-') return '';
    return kind === 'new!' || kind === 'old!' ? (kind.replace('!', '') as Kind) : kind;
  });

for (const { why, options, judge } of policies)
  test(`${why}: whatever the caches show of three pods, no more goes than may, and time brings the set to its end`, () => {
    for (const a of kinds)
      for (const b of kinds)
        for (const c of kinds)
          for (let replicas = 0; replicas <= 3; replicas++) {
            let pods: Kind[] = [a, b, c];
            for (let looks = 0, moves = true; moves; looks++) {
              const calls = decided(pods, replicas, options);
              if (looks === 0) judge(pods, replicas, calls);
              const next = after(pods, calls);
              moves = next.some((kind, ordinal) => kind !== pods[ordinal]);
              pods = next;
              assert.ok(looks < 60, `${replicas} of ${[a, b, c].join()}: it goes on and on`);
            }
            const end = [0, 1, 2].map((ordinal) => (ordinal < replicas ? 'new' : ''));
            assert.deepEqual(pods, end, `${replicas} of ${[a, b, c].join()}`);
          }
  });
