import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyDefaults, applyFlags, decode, portsOfKubelet, preflightFatal, validateAll } from '../../../../agent/config/config.ts';
import type { Finding } from '../../../../agent/config/contract.ts';
import { parseKubeletVersion } from '../../../../agent/config/version.ts';
import { validationInputs } from '../../../../agent/evaluate/evaluate.ts';
import { readHost } from '../../../../agent/host/host.ts';
import { realDisk } from '../../../../base/disk.ts';
import { stringify } from 'yaml';
import { type Fate, fatalRows, type FatalRow } from '../../../support/fatal-rows.ts';
import { type ControlPlane, startControlPlane } from '../../../support/real-parts/control-plane.ts';
import { builtRelease, givenRelease, type Release } from '../../../support/real-parts/release.ts';
import { withRealParts } from '../suite.ts';
import { needsApi, Stage, subjectOf } from './stage.ts';

/** All rows: `DKC_FATAL=all`; those whose `why` this regular expression finds: `DKC_FATAL=PATTERN`. @default those marked for CI */
const asked = process.env['DKC_FATAL'] ?? 'ci';
const isAsked = ({ ci, why }: FatalRow): boolean => (asked === 'ci' ? ci === true : asked === 'all' || new RegExp(asked).test(why));
const sameFate = (seen: Fate, wanted: Fate | undefined): boolean =>
  seen === wanted || (seen.startsWith('dies') && wanted?.startsWith('dies') === true);
/** Kubelets at a time. */
const AT_ONCE = 3;

const place = ({ field, rule }: Finding): string => `${field} ${rule}`;

/** What preflight finds on this very machine, as it was arranged. */
async function preflightHere(stage: Stage, release: Release): Promise<{ errors: string[]; warnings: string[] }> {
  const kubelet = { version: parseKubeletVersion(release.version), args: stage.commandLine };
  const decoded = decode(new TextEncoder().encode(stringify(stage.config(stage.row.config ?? ''))), kubelet.version);
  if (!decoded.ok) return { errors: decoded.errors.map(place), warnings: [] };
  const { merged } = applyFlags(decoded.written, kubelet.args, kubelet.version);
  const defaulted = applyDefaults(merged, kubelet.version);
  const base = applyDefaults(applyFlags(stage.config('') as never, kubelet.args, kubelet.version).merged, kubelet.version);
  const host = await readHost(realDisk, defaulted, { args: kubelet.args, running: { ports: portsOfKubelet(base, kubelet), sockets: [] } });
  const rules = validateAll(defaulted, validationInputs({ kubelet }));
  const { errors, warnings } = preflightFatal(defaulted, host, kubelet);
  return { errors: [...rules, ...errors].map(place), warnings: warnings.map(place) };
}

const tables = [
  {
    file: 'valid-but-fatal-1.36.yaml',
    minor: '1.36',
    release: await givenRelease(),
    parts: ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver'],
  },
  { file: 'lives-1.36.yaml', minor: '1.36', release: await givenRelease(), parts: ['kubelet', 'cri-v1.proto', 'etcd', 'kube-apiserver'] },
  { file: 'valid-but-fatal.yaml', minor: '1.20', release: builtRelease, parts: ['kubelet', 'etcd', 'kube-apiserver'] },
];

for (const { file, minor, release, parts } of tables) {
  const rows = (fatalRows(file)[minor] ?? []).filter((row) => row.kubelet !== undefined && isAsked(row));
  if (rows.length === 0) continue;
  await withRealParts(
    `configurations on a real kubelet ${release.version} (${file})`,
    parts,
    () => {
      test('each has the fate that the table says, and preflight what it finds', { timeout: 3_600_000 }, async (t) => {
        const subject = await subjectOf(release);
        const name = (n: number): string => `fatal-${n}`;
        const registered = rows.some(needsApi);
        let plane: ControlPlane | undefined;
        if (registered) {
          plane = await startControlPlane({ release, nodes: rows.map((_, n) => name(n)), apiServerArgs: ['--allow-privileged'] });
          const started = plane;
          t.after(() => started.stop());
        }
        const wrong: string[] = [];
        let next = 0;
        const one = async (): Promise<void> => {
          for (let n = next++; n < rows.length; n = next++) {
            const row = rows[n] as FatalRow;
            const stage = await Stage.arrange(row, name(n), subject, needsApi(row) ? plane : undefined);
            try {
              await stage.before();
              const found = await preflightHere(stage, release);
              const seen = await stage.play();
              const problems = [
                sameFate(seen.fate, row.kubelet) || seen.fate === row.or ? '' : `it ${seen.fate}, not: ${row.kubelet}`,
                row.says === undefined || seen.fate === row.or || seen.words.includes(row.says) ? '' : `it does not say ${row.says}`,
                row.refused === true && found.errors.length === 0 ? 'it is not refused' : '',
                row.error === undefined || row.unseen === true || found.errors.includes(row.error)
                  ? ''
                  : `preflight does not find ${row.error}`,
                row.error === undefined && row.refused !== true && found.errors.length > 0 ? 'preflight refuses it' : '',
                row.warning === undefined || found.warnings.includes(row.warning) ? '' : `preflight does not warn of ${row.warning}`,
              ].filter((text) => text !== '');
              if (problems.length > 0) wrong.push(`${row.why}: ${problems.join('; ')}. Errors: ${found.errors.join(', ')}. ${seen.words}`);
            } catch (error) {
              wrong.push(`${row.why}: ${String(error)}`);
            } finally {
              await stage.close();
            }
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, one));
        assert.deepEqual(wrong, []);
      });
    },
    release,
  );
}
