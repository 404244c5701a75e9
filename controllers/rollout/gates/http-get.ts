import { MAX_BODY, type HttpGet } from './contract.ts';

/**
 * Gets a URL that somebody wrote into a NodeConfigRollout. Who may write rollouts makes the controllers send GET requests to any host that they reach,
 * loopback and metadata services included; that right goes to cluster administrators. What limits it: http and https alone, no credentials in the URL
 * (`gateProblems`), a path that always ends in `/api/v1/query`, redirects that are not followed, no header that identifies the controllers, and of the
 * answer nothing goes into the status but numbers of series, names of alerts and an excerpt of an error in Prometheus' own format.
 */
export const httpGet: HttpGet = async (url, signal) => {
  const answer = await fetch(url, { signal, redirect: 'manual', headers: { accept: 'application/json' } });
  if (answer.status >= 300 && answer.status < 400) {
    await answer.body?.cancel();
    return { status: answer.status, text: '' };
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // What is thrown in the loop cancels the body.
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY) throw new Error('the answer has more than 1 MiB; query less');
    chunks.push(chunk);
  }
  return { status: answer.status, text: Buffer.concat(chunks).toString('utf8') };
};
