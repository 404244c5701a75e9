import { type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { ActionError } from '../../../base/errors.ts';
import { FreshFile } from '../../../base/changing-files.ts';
import { type HttpGet, MAX_BODY, type PrometheusServer, serverFor } from './contract.ts';

/**
 * Gets URLs from NodeConfigRollouts. A user who may write rollouts can make the controllers send GET requests to any host that they reach, loopback and
 * metadata services included; only cluster administrators should have that right. Limits: http and https only, no credentials in the URL (`gateProblems`),
 * a path that always ends in `/api/v1/query`, redirects are not followed, no header identifies the controllers, credentials only for servers that the
 * administrator lists, and from the answer only numbers of series, names of alerts and an excerpt of an error in Prometheus' own format go into the
 * status.
 * @param servers - that need credentials or have a private CA; their files are read again when they change
 */
export function httpGetter(servers: readonly PrometheusServer[] = []): HttpGet {
  const files = new Map<string, FreshFile>();
  const read = async (path: string | undefined, what: string): Promise<string | undefined> => {
    if (path === undefined) return undefined;
    const file = files.get(path) ?? new FreshFile(path, what);
    files.set(path, file);
    return file.text();
  };
  return async (url, signal) => {
    const server = serverFor(url, servers);
    const { authorization, credentials } = await credentialsOf(server, read);
    const { caFile, certFile, keyFile, serverName } = server?.tlsConfig ?? {};
    const tls = {
      ca: await read(caFile, 'CA file'),
      cert: await read(certFile, 'certificate file'),
      key: await read(keyFile, 'key file'),
      servername: serverName,
    };
    const headers = { accept: 'application/json', ...(authorization === undefined ? {} : { authorization }) };
    const response = await send(url, { headers, signal, agent: false, ...defined(tls) });
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400) {
      response.destroy();
      return { status, text: '' };
    }
    return { status, text: await bodyOf(response), ...(credentials === undefined ? {} : { credentials }) };
  };
}

type Read = (path: string | undefined, what: string) => Promise<string | undefined>;

/** The header, and which file it is from. @throws {ActionError} where the file cannot be used */
async function credentialsOf(server: PrometheusServer | undefined, read: Read): Promise<{ authorization?: string; credentials?: string }> {
  const { bearerTokenFile, basicAuth } = server ?? {};
  if (bearerTokenFile !== undefined) {
    const token = oneLine(await read(bearerTokenFile, 'bearer token file'), bearerTokenFile);
    return { authorization: `Bearer ${token}`, credentials: `the token in ${bearerTokenFile}` };
  }
  if (basicAuth === undefined) return {};
  const { username, passwordFile } = basicAuth;
  const password = oneLine(await read(passwordFile, 'password file'), passwordFile);
  const encoded = Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
  return { authorization: `Basic ${encoded}`, credentials: `user ${username} with the password in ${passwordFile}` };
}

/** The text of a file for a header: a file of several lines is the wrong one. */
function oneLine(text = '', path = ''): string {
  const line = text.trim();
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(line))
    throw new ActionError('use', path, { hint: 'it has more than one line or control characters; write the secret alone' });
  return line;
}

function defined(of: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(of).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function send(url: string, options: { headers: Record<string, string>; signal: AbortSignal; agent: false }): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.startsWith('https:') ? tlsRequest(url, options) : plainRequest(url, options);
    request.once('error', reject);
    request.once('response', resolve);
    // Without this listener, a 101 response would never end the request: no response event, no error, no timeout.
    request.once('upgrade', (_, socket) => {
      socket.destroy();
      reject(new Error('the server answered 101 and speaks another protocol; check the URL'));
    });
    request.once('close', () => reject(new Error('the server closed the connection without an answer')));
    request.end();
  });
}

async function bodyOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // An exception in the loop closes the connection.
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY) throw new Error('the answer has more than 1 MiB; query less');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
