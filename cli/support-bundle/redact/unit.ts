import { splitWords } from '../../../agent/host/unit.ts';
import { isSecretName, REDACTED, redactText } from './text.ts';
import { fields } from '../../../agent/config/fields/fields.ts';

/** Variables whose values are arguments of a kubelet. */
const argumentsName = /^KUBELET_[A-Z_]*ARGS$/;
const command = /^Exec[A-Za-z]*$/;
/** Variables of C libraries and of Go that hold numbers and sizes. */
const tuning = /^(?:MALLOC_[A-Z_]+|GOMAXPROCS|GOGC|GOMEMLIMIT)$/;
/** Settings with values that systemd passes to the program. */
const held = /^(?:Environment|SetCredential|SetCredentialEncrypted|StandardInputText|StandardInputData)$/;

/**
 * Redacts units and drop-ins as printed by `systemctl cat`: removes comments, which are free text, and values of variables and credentials, and
 * redacts command lines with {@link redactFlags}. The lines that name the files stay.
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
  if (name === 'Environment') return [`${name}=${splitArgs(value).map(variable).join(' ')}`];
  if (held.test(name)) return [`${name}=${value === '' ? '' : REDACTED}`];
  if (command.test(name)) return [`${name}=${redactFlags(splitArgs(value)).join(' ')}`];
  return [redactText(line)];
}

const splitArgs = (text: string): string[] => splitWords(text);

function variable(word: string): string {
  const at = word.indexOf('=');
  if (at < 1 || !/^[A-Za-z_]\w*$/.test(word.slice(0, at))) return REDACTED;
  const [name, value] = [word.slice(0, at), word.slice(at + 1)];
  if (argumentsName.test(name)) return `"${name}=${redactFlags(splitArgs(value)).join(' ')}"`;
  if (tuning.test(name) && /^\d{1,12}[A-Za-z]{0,3}$/.test(value)) return word;
  return `${name}=${value === '' ? '' : REDACTED}`;
}

/** Flags of kubelets and dkc whose values are paths, numbers or modes, in addition to flags of known fields. */
const KNOWN = new Set(
  [
    'config config-dir kubeconfig bootstrap-kubeconfig root-dir cert-dir node-ip hostname-override cloud-provider container-runtime',
    'container-runtime-endpoint image-service-endpoint pod-infra-container-image runtime-cgroups feature-gates v vmodule logging-format',
    'leader-elect controllers concurrent-syncs namespace metrics-bind-address dynamic-config-dir local-config effective-config kubelet-unit',
    'kubelet-version merge policy agent-config exit-on-lock-contention lock-file register-node enable-server seccomp-default',
  ].flatMap((names) => names.split(' ')),
);
/** Fields whose values are free text. */
const FREE_TEXTS = new Set(['staticPodURL', 'providerID']);
const OF_FIELDS = new Set(
  fields
    .filter(({ secret, name }) => secret !== true && !FREE_TEXTS.has(name))
    .flatMap(({ flag }) => (flag === undefined ? [] : [flag.replace(/^-+/, '')])),
);

/** Values of known flags that are shown: paths, numbers, lists of settings, addresses. */
const PLAIN = /^["']?[A-Za-z0-9_./:,=%@~*+[\]-]{0,256}["']?$/;

/** Removes the values of flags that are not known to be harmless from a command line; words that are not flags are redacted like text. */
export function redactFlags(splitArgs: readonly string[]): string[] {
  let waiting: 'known' | 'unknown' | undefined;
  return splitArgs.map((word) => {
    const [, dashes = '', name = '', value] = /^(["']?--?)([A-Za-z0-9][A-Za-z0-9_-]*)(?:=([\s\S]*))?$/.exec(word) ?? [];
    if (dashes === '') {
      const before = waiting;
      waiting = undefined;
      // The word is the value of the preceding flag, unless that flag takes none.
      if (before === 'known' && PLAIN.test(word)) return redactText(word);
      return before === 'unknown' && !isPlace(word) ? REDACTED : shownArg(word);
    }
    const isKnown = (KNOWN.has(name) || OF_FIELDS.has(name)) && !isSecretName(name);
    waiting = value === undefined ? (isKnown ? 'known' : 'unknown') : undefined;
    if (value === undefined) return redactText(word);
    return `${dashes}${name}=${isKnown && PLAIN.test(value) ? redactText(value) : isSwitch(value) ? value : REDACTED}`;
  });
}

const isSwitch = (value: string): boolean => /^["']?(?:true|false|\d{1,3})["']?$/.test(value);
/** A path below a system directory. Other words with slashes may be secrets: base64 has slashes too. */
const isPlace = (word: string): boolean => /^[-@:+!]*\/(?:usr|etc|var|opt|run|bin|sbin|lib|lib64|srv)\/[\w./@:~-]{1,256}$/.test(word);
/** Programs, variables, and words of a command: `agent run`. */
const shownArg = (word: string): string => (isPlace(word) || /^(?:\$\{?\w+\}?|[a-z]{1,12})$/.test(word) ? redactText(word) : REDACTED);
