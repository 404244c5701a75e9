import { defaultExtender, type ExtenderConfig } from './config.ts';
import { type Mapping, mustBeExtendedResource, mustBeUrl } from '../../kube/process/mapping.ts';

const HEAVIEST = 10_000;
const verbs = ['filterVerb', 'prioritizeVerb', 'bindVerb', 'preemptVerb'] as const;

/** An extender, with the keys that kube-scheduler has for one. */
export function readExtender(written: Mapping): ExtenderConfig {
  const normal = defaultExtender;
  written.requires('urlPrefix');
  const extender: ExtenderConfig = {
    urlPrefix: written.text('urlPrefix', '', mustBeUrl),
    filterVerb: written.text('filterVerb', ''),
    prioritizeVerb: written.text('prioritizeVerb', ''),
    bindVerb: written.text('bindVerb', ''),
    preemptVerb: written.text('preemptVerb', ''),
    weight: written.whole('weight', normal.weight, { min: 0, max: HEAVIEST }),
    enableHttps: written.flag('enableHTTPS', normal.enableHttps),
    tls: written.mapping('tlsConfig', readTls),
    httpTimeoutMs: written.duration('httpTimeout', normal.httpTimeoutMs),
    nodeCacheCapable: written.flag('nodeCacheCapable', normal.nodeCacheCapable),
    ignorable: written.flag('ignorable', normal.ignorable),
    managedResources: written.mappings('managedResources', readManaged) ?? normal.managedResources,
  };
  judge(written, extender);
  return extender;
}

function judge(written: Mapping, { urlPrefix, prioritizeVerb, weight, enableHttps, tls, ...asked }: ExtenderConfig): void {
  const { findings, path } = written;
  if (verbs.every((verb) => ({ prioritizeVerb, ...asked })[verb] === ''))
    findings.warn(path, `it has no effect: the extender needs at least one of ${verbs.join(', ')}`);
  if (prioritizeVerb !== '' && weight === 0) written.problem('weight', 'it is 0; it must be 1 or more beside a prioritizeVerb');
  if (prioritizeVerb === '' && written.has('weight') && weight > 0) written.warn('weight', 'it has no effect without a prioritizeVerb');
  if (urlPrefix === '') return;
  const isHttps = urlPrefix.startsWith('https:');
  if (!isHttps && enableHttps) written.warn('enableHTTPS', 'it has no effect: urlPrefix begins with http://');
  if (!isHttps && written.has('tlsConfig')) written.warn('tlsConfig', 'it has no effect: urlPrefix begins with http://');
  const hasAuthority = tls.caFile !== undefined || tls.caData !== undefined;
  if (isHttps && enableHttps && !hasAuthority && !tls.insecure)
    written.warn('tlsConfig', 'no CA is set (caFile, caData): with enableHTTPS any certificate is trusted');
}

function readTls(written: Mapping): ExtenderConfig['tls'] {
  const tls = {
    insecure: written.flag('insecure', false),
    serverName: written.text('serverName', undefined),
    certFile: written.text('certFile', undefined),
    keyFile: written.text('keyFile', undefined),
    caFile: written.text('caFile', undefined),
    certData: readPem(written, 'certData'),
    keyData: readPem(written, 'keyData'),
    caData: readPem(written, 'caData'),
  };
  const hasCert = tls.certFile !== undefined || tls.certData !== undefined;
  const hasKey = tls.keyFile !== undefined || tls.keyData !== undefined;
  if (hasCert && !hasKey) written.problem('keyFile', 'it is missing: the certificate needs its key');
  if (hasKey && !hasCert) written.problem('certFile', 'it is missing: the key needs its certificate');
  if (tls.insecure && (tls.caFile !== undefined || tls.caData !== undefined))
    written.problem('insecure', 'insecure and a CA (caFile, caData) cannot be combined; remove one');
  return tls;
}

/** Base64 of PEM text, as in kube-scheduler's file. */
function readPem(written: Mapping, key: string): string | undefined {
  const packed = written.secret(key)?.replaceAll(/\s/g, '');
  if (packed === undefined || packed === '') return undefined;
  if (/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(packed)) {
    const text = Buffer.from(packed, 'base64').toString('utf8');
    if (text.includes('-----BEGIN ')) return text;
  }
  written.problem(key, 'it must be base64-encoded PEM; or use the ...File key instead');
  return undefined;
}

function readManaged(written: Mapping): ExtenderConfig['managedResources'][number] {
  written.requires('name');
  return { name: written.text('name', '', mustBeExtendedResource), ignoredByScheduler: written.flag('ignoredByScheduler', false) };
}
