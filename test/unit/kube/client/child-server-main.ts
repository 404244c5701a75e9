import { readFileSync } from 'node:fs';
import { json, node, standIn } from './api-stand-in.ts';

/** A server in a process of its own, that can be stopped. Arguments: kind, and for TLS the files of certificate and key. */
const [kind = 'http', cert, key] = process.argv.slice(2);
const tls = cert === undefined || key === undefined ? undefined : { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
const server = await standIn(
  kind as 'h2' | 'https' | 'http',
  (request, response) => {
    if (request.url?.includes('watch=true') !== true) return json(response, 200, node('n', '1'));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`${JSON.stringify({ type: 'ADDED', object: node('n', '1') })}\n`);
  },
  tls,
);
process.stdout.write(`${server.url}\n`);
