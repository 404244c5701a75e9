import { splitWords } from '../../../agent/host/unit.ts';
import { isSecretName, REDACTED, redactText } from './text.ts';
import { fields } from '../../../agent/config/fields/fields.ts';

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

/** Flags of kubelets and of dkc whose values are paths, numbers, names of modes: beside those that stand for a known field. */
const KNOWN = new Set(
  [
    'config config-dir kubeconfig bootstrap-kubeconfig root-dir cert-dir node-ip hostname-override cloud-provider container-runtime',
    'container-runtime-endpoint image-service-endpoint pod-infra-container-image runtime-cgroups feature-gates v vmodule logging-format',
    'leader-elect controllers concurrent-syncs namespace metrics-bind-address dynamic-config-dir local-config effective-config kubelet-unit',
    'kubelet-version merge policy agent-config exit-on-lock-contention lock-file register-node enable-server seccomp-default',
  ].flatMap((names) => names.split(' ')),
);
/** Fields whose values are anybody's text. */
const FREE_TEXTS = new Set(['staticPodURL', 'providerID']);
const OF_FIELDS = new Set(
  fields
    .filter(({ secret, name }) => secret !== true && !FREE_TEXTS.has(name))
    .flatMap(({ flag }) => (flag === undefined ? [] : [flag.replace(/^-+/, '')])),
);

/** Values of known flags may be this: paths, numbers, lists of settings, addresses. */
const PLAIN = /^["']?[A-Za-z0-9_./:,=%@~*+[\]-]{0,256}["']?$/;

/** A command line without the values of flags that are not known to be harmless; words that are no flags are looked at as text. */
export function redactFlags(words: readonly string[]): string[] {
  let waiting: 'known' | 'unknown' | undefined;
  return words.map((word) => {
    const [, dashes = '', name = '', value] = /^(["']?--?)([A-Za-z0-9][A-Za-z0-9_-]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (dashes === '') {
      const before = waiting;
      waiting = undefined;
      // The value of the flag before it, unless that flag takes none.
      if (before === 'known' && PLAIN.test(word)) return redactText(word);
      return before === 'unknown' && !isPlace(word) ? REDACTED : shownWord(word);
    }
    const isKnown = (KNOWN.has(name) || OF_FIELDS.has(name)) && !isSecretName(name);
    waiting = value === undefined ? (isKnown ? 'known' : 'unknown') : undefined;
    if (value === undefined) return redactText(word);
    return `${dashes}${name}=${isKnown && PLAIN.test(value) ? redactText(value) : isSwitch(value) ? value : REDACTED}`;
  });
}

const isSwitch = (value: string): boolean => /^["']?(?:true|false|\d{1,3})["']?$/.test(value);
/** A path of a system. Others may be anything: base64 has slashes too. */
const isPlace = (word: string): boolean => /^[-@:+!]*\/(?:usr|etc|var|opt|run|bin|sbin|lib|lib64|srv)\/[\w./@:~-]{1,256}$/.test(word);
/** Programs, variables, and words of a command: `agent run`. */
const shownWord = (word: string): string => (isPlace(word) || /^(?:\$\{?\w+\}?|[a-z]{1,12})$/.test(word) ? redactText(word) : REDACTED);
