import { notAcceptable } from '../status-error.ts';

/** How an answer should be written. */
export interface Format {
  /** Instead of the object itself. @default undefined */
  as: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined;
  yaml: boolean;
  /** Version of meta.k8s.io that `as` was asked in. */
  metaVersion: string;
}

const plain: Format = { as: undefined, yaml: false, metaVersion: 'v1' };
const transforms = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'] as const;

/** The first form in an Accept header that can be written; no header is JSON. @throws StatusError 406 when there is none */
export function formatOf(accept: string): Format {
  if (accept.trim() === '') return plain;
  for (const clause of accept.split(',')) {
    const [type = '', ...rest] = clause.split(';').map((part) => part.trim());
    const parameters = new Map(rest.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
    const yaml = type === 'application/yaml';
    if (!yaml && !['application/json', 'application/*', '*/*'].includes(type)) continue;
    const as = parameters.get('as');
    if (as === undefined) return { ...plain, yaml };
    const metaVersion = parameters.get('v') ?? '';
    const known = transforms.find((transform) => transform === as);
    if (known && parameters.get('g') === 'meta.k8s.io' && ['v1', 'v1beta1'].includes(metaVersion)) return { as: known, yaml, metaVersion };
  }
  throw notAcceptable(['application/json', 'application/yaml']);
}
