import { readFile } from 'node:fs/promises';
import { seen, type Seen, Unseen } from '../check.ts';
import { type Credential, credentialChecks, type CredentialFacts, nodeHints } from '../node/credentials.ts';
import { certificatesIn, pairMatches } from '../../../agent/host/facts.ts';
import { parseAccountToken } from '../../../agent/run/account-token.ts';
import { ActionError, describeError, errorCode } from '../../../base/errors.ts';
import { type ClusterAccess, loadKubeconfig, type Material } from '../../../kube/client/access.ts';
import type { Millis } from '../../../base/clock.ts';

/** The access that a kubeconfig describes, or why it is unusable. @throws if this user may not read it */
export async function accessOf(load: () => Promise<ClusterAccess>): Promise<ClusterAccess | { problem: string }> {
  try {
    return await load();
  } catch (error) {
    const code = errorCode(error instanceof ActionError ? (error.cause ?? error) : error);
    if (code === 'EACCES' || code === 'EPERM') throw error;
    return { problem: error instanceof ActionError ? error.message : describeError(error) };
  }
}

/** Examines the agent's kubeconfig. @param given - undefined: it has none */
export async function inspectKubeconfig(
  given: Seen<string | undefined>,
  environment: Readonly<Record<string, string | undefined>>,
  now: Millis,
): Promise<{ facts: CredentialFacts; access: Seen<ClusterAccess> }> {
  if ('unseen' in given) return { facts: { ...without(undefined, given.unseen, now), problem: given }, access: given };
  const kubeconfig = given.seen;
  if (kubeconfig === undefined)
    return { facts: without(undefined, 'no kubeconfig is set', now), access: { unseen: 'no kubeconfig is set' } };
  const found = await seen(() => accessOf(() => loadKubeconfig(kubeconfig, { environment })));
  return credentialsOf(kubeconfig, found, now);
}

/** Why no API server would accept the agent's credentials, such as an expired certificate, with the remedy; undefined: no such problem is visible. */
export async function credentialProblem(
  { kubeconfig, kubeletUnit }: { kubeconfig: string; kubeletUnit: string },
  environment: Readonly<Record<string, string | undefined>>,
  now: Millis,
): Promise<string | undefined> {
  const { facts } = await inspectKubeconfig({ seen: kubeconfig }, environment, now);
  for (const check of credentialChecks(nodeHints)) {
    const verdict = await seen(async () => check.decide({ ...facts, kubeletUnit: kubeletUnit || 'kubelet' }));
    if ('seen' in verdict && verdict.seen.result === 'failed') return `${verdict.seen.detail}; ${verdict.seen.remedy}`;
  }
  return undefined;
}

export async function credentialsOf(
  kubeconfig: string,
  found: Seen<ClusterAccess | { problem: string }>,
  now: Millis,
): Promise<{ facts: CredentialFacts; access: Seen<ClusterAccess> }> {
  if ('unseen' in found) return { facts: { ...without(kubeconfig, found.unseen, now), problem: found }, access: found };
  if ('problem' in found.seen) {
    const why = 'the kubeconfig cannot be used';
    return { facts: { ...without(kubeconfig, why, now), problem: { seen: found.seen.problem } }, access: { unseen: why } };
  }
  const access = found.seen;
  const { clientCertificate, clientKey, ca, token, tokenFile } = access;
  const certificate = clientCertificate && (() => ofCertificate(clientCertificate, clientKey, kubeconfig));
  const authority = ca && (() => ofAuthority(ca, kubeconfig));
  const bearer = tokenFile !== undefined ? { file: tokenFile } : token !== undefined ? { data: token } : undefined;
  return {
    facts: {
      kubeconfig,
      problem: { seen: undefined },
      certificate: await orProblem(certificate),
      token: await orProblem(bearer && (() => ofToken(bearer, kubeconfig))),
      authority: await orProblem(authority),
      now,
    },
    access: { seen: access },
  };
}

function without(kubeconfig: string | undefined, why: string, now: Millis): CredentialFacts {
  const unseen = { unseen: why };
  return { kubeconfig, problem: { seen: undefined }, certificate: unseen, token: unseen, authority: unseen, now };
}

/** A credential that cannot be read is a problem; one that this user may not read is unavailable. */
function orProblem<T>(read: (() => Promise<T>) | undefined): Promise<Seen<T | { problem: string } | 'none'>> {
  return seen(async () => {
    if (read === undefined) return 'none';
    try {
      return await read();
    } catch (error) {
      if (['EACCES', 'EPERM'].includes(errorCode(error) ?? '')) throw error;
      return { problem: describeError(error) };
    }
  });
}

export const textOf = async (material: Material): Promise<string> => ('data' in material ? material.data : readFile(material.file, 'utf8'));

const fromOf = (material: Material, kubeconfig: string) => ({
  from: 'file' in material ? material.file : kubeconfig,
  isEmbedded: !('file' in material),
});

async function ofCertificate(material: Material, key: Material | undefined, kubeconfig: string) {
  const text = await textOf(material);
  const [first] = certificatesIn(text);
  const { from, isEmbedded } = fromOf(material, kubeconfig);
  if (first === undefined) throw new Unseen(`there is no certificate in ${from}`);
  const keyText = key === undefined ? undefined : await textOf(key);
  return { from, isEmbedded, ...datesOf(first), fitsKey: keyText === undefined ? undefined : pairMatches(text, keyText) };
}

async function ofAuthority(material: Material, kubeconfig: string): Promise<Credential> {
  const all = certificatesIn(await textOf(material)).map(datesOf).toSorted((a, b) => b.notAfter - a.notAfter); // prettier-ignore
  const { from, isEmbedded } = fromOf(material, kubeconfig);
  const [longest] = all;
  if (longest === undefined) throw new Unseen(`there is no certificate in ${from}`);
  return { from, isEmbedded, ...longest };
}

async function ofToken(material: Material, kubeconfig: string): Promise<Credential> {
  const token = parseAccountToken(await textOf(material));
  return { ...fromOf(material, kubeconfig), notBefore: token?.issuedAt ?? 0, notAfter: token?.expiresAt ?? null };
}

const datesOf = ({ validFrom, validTo }: { validFrom: string; validTo: string }) => ({
  notBefore: Date.parse(validFrom),
  notAfter: Date.parse(validTo),
});
