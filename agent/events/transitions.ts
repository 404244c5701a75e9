import { sourceText, sameSource, type MaybeSource } from '../checkpoint/source.ts';
import type { CondemnedRecord, JournalLine } from '../store/store.ts';
import { unreachable } from '../../base/errors.ts';

/** What a line of the journal says to those who watch the Node. */
export interface Transition {
  /** Place of the line in the journal that it was read from. */
  index: number;
  type: 'Normal' | 'Warning';
  reason: 'KubeletConfigTrusted' | 'KubeletConfigCondemned' | 'KubeletConfigRolledBack' | 'KubeletConfigRetried';
  message: string;
}

/** Detail of a promotion that only gave trusted content another name: no transition of this node. */
export const TRUSTED_ALREADY = 'its content was trusted already';

/**
 * The events that a journal makes, oldest first. A way back is told when it is done: by the boot after the condemnation or the rollback.
 * @param condemned - where the evidence is, as long as it lasts
 */
export function transitionsOf(lines: readonly JournalLine[], condemned: readonly CondemnedRecord[]): Transition[] {
  /** What was condemned or rolled back, and no boot has followed yet. */
  let left: JournalLine | undefined;
  return lines.flatMap((line, index): Transition[] => {
    const { event, source, detail } = line;
    const name = sourceText(source);
    switch (event) {
      case 'promoted':
        return detail === TRUSTED_ALREADY
          ? []
          : [{ index, type: 'Normal', reason: 'KubeletConfigTrusted', message: `Trusted ${name}: ${detail}` }];
      case 'condemned':
        left = line;
        return [
          {
            index,
            type: 'Warning',
            reason: 'KubeletConfigCondemned',
            message: `Condemned ${name}: ${detail}${evidenceOf(line, condemned)}`,
          },
        ];
      case 'rolled-back':
        left = line;
        return [];
      case 'retried':
        left = undefined;
        return [{ index, type: 'Normal', reason: 'KubeletConfigRetried', message: `Allowed to try ${name} again: ${detail}` }];
      case 'booted': {
        const from = left;
        left = undefined;
        if (!from || sameSource(from.source, source)) return [];
        const type = from.event === 'condemned' ? 'Warning' : 'Normal';
        return [
          {
            index,
            type,
            reason: 'KubeletConfigRolledBack',
            message: `Rolled back from ${sourceText(from.source)} to ${name}: ${from.detail}`,
          },
        ];
      }
      case 'assigned': // announced by sync, before the exit
      case 'refused':
      case 'reset':
      case 'damaged':
        return [];
      default:
        return unreachable(event);
    }
  });
}

function evidenceOf({ at, source }: JournalLine, condemned: readonly CondemnedRecord[]): string {
  const isIts = (record: CondemnedRecord, of: NonNullable<MaybeSource>): boolean =>
    record.at === at && record.uid === of.uid && record.resourceVersion === of.resourceVersion;
  const evidence = source === null ? undefined : condemned.find((record) => isIts(record, source))?.evidence;
  return evidence && evidence.length > 0 ? `; ${evidence.join('; ')}` : '';
}
