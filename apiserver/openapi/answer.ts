import { createHash } from 'node:crypto';
import { encode } from '../http/answer-text.ts';
import type { Answer } from '../http/api-request.ts';
import type { Registry } from '../kinds/registry.ts';
import { openApiV2, openApiV3, openApiV3Index } from './document.ts';
import { openApiV2Protobuf } from './protobuf.ts';

// Asked for as `...spec.v2@v1.0+protobuf`, which is no media type: Go's clients refuse an answer with an @ in its type.
const PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** What `/openapi/v2` and `/openapi/v3` answer; undefined for any other path. */
export function openApi(registry: Registry, path: string, accept: string, version: string): Answer | undefined {
  if (path === '/openapi/v2') {
    const document = openApiV2(registry, version);
    if (!accept.includes('protobuf')) return text(encode(document, false)[1]);
    return { code: 200, type: PROTOBUF, bytes: openApiV2Protobuf(document) };
  }
  if (path === '/openapi/v3') return { code: 200, json: openApiV3Index(registry) };
  const document = path.startsWith('/openapi/v3/') ? openApiV3(registry, path.slice('/openapi/v3/'.length), version) : undefined;
  return document === undefined ? undefined : text(encode(document, false)[1]);
}

// kubectl keeps these on disk by their tag.
function text(json: string): Answer {
  const etag = `"${createHash('sha256').update(json).digest('hex').toUpperCase()}"`;
  return { code: 200, type: 'application/json', bytes: json, headers: { etag } };
}
