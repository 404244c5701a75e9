import { splitWords } from '../../../agent/host/command-line.ts';
import { redactFlags } from './flags.ts';
import { REDACTED, redactText } from './text.ts';

/** Variables whose values are arguments of a kubelet. */
const argumentsName = /^KUBELET_[A-Z_]*ARGS$/;
const command = /^Exec[A-Za-z]*$/;
/** Variables of C libraries and of Go that hold numbers and sizes. */
const tuning = /^(?:MALLOC_[A-Z_]+|GOMAXPROCS|GOGC|GOMEMLIMIT)$/;
/** Settings that hold a value which a program gets. */
const held = /^(?:Environment|SetCredential|SetCredentialEncrypted|StandardInputText|StandardInputData)$/;

/**
 * Units and drop-ins as `systemctl cat` prints them: without comments, which are anybody's words, without values of variables and credentials, and
 * with command lines as {@link redactFlags} leaves them. The lines that name the files stay.
 */
export function redactUnit(text: string): string {
  const joined = text.replaceAll(/\\\n\s*/g, ' ').split('\n');
  return joined.flatMap(redactSetting).join('\n');
}

function redactSetting(line: string): string[] {
  if (/^# \/[\w./@:\\-]+$/.test(line)) return [line];
  if (/^\s*[#;]/.test(line)) return [];
  const [, name = '', value = ''] = /^\s*([A-Za-z]+)\s*=\s*(.*)$/.exec(line) ?? [];
  if (name === '') return [redactText(line)];
  if (name === 'Environment') return [`${name}=${words(value).map(variable).join(' ')}`];
  if (held.test(name)) return [`${name}=${value === '' ? '' : REDACTED}`];
  if (command.test(name)) return [`${name}=${redactFlags(words(value)).join(' ')}`];
  return [redactText(line)];
}

const words = (text: string): string[] => splitWords(text);

function variable(word: string): string {
  const at = word.indexOf('=');
  if (at < 1 || !/^[A-Za-z_]\w*$/.test(word.slice(0, at))) return REDACTED;
  const [name, value] = [word.slice(0, at), word.slice(at + 1)];
  if (argumentsName.test(name)) return `"${name}=${redactFlags(words(value)).join(' ')}"`;
  if (tuning.test(name) && /^\d{1,12}[A-Za-z]{0,3}$/.test(value)) return word;
  return `${name}=${value === '' ? '' : REDACTED}`;
}
