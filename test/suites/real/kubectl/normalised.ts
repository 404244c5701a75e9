import { parse, stringify } from 'yaml';

/** Takes out of an output what differs from one run to the next: times, ages, uids, versions, addresses, widths of columns. */
export function normalised(output: string, folder: string): string {
  return inOrder(withoutManagers(output))
    .replaceAll(folder, 'FOLDER')
    .replace(/https?:\/\/127\.0\.0\.1:\d+/g, 'SERVER')
    .replace(/\/tmp\/(LIVE|MERGED|kubectl-edit)-[\w.]+/g, '/tmp/$1')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| [+-]\d{4})?/g, 'TIME')
    .replace(/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME')
    .replace(/(resourceVersion"?: "?)\d+/g, '$1VERSION')
    .replace(/\b(\d+[dhms]){1,2}\b/g, 'AGE')
    .replace(/[ \t]+/g, ' ')
    .replace(/ $/gm, '');
}

// What is wrong with an object of a CRD is listed by the real server as its maps happen to be walked, another way each time.
function inOrder(output: string): string {
  return output.replace(/(?:^\* .*\n){2,}/gm, (listed) => `${listed.trimEnd().split('\n').toSorted().join('\n')}\n`);
}

// An object is written the same way whatever it was written with, and without its managers.
function withoutManagers(output: string): string {
  return /^(apiVersion: |\{"kind":)/.test(output) ? stringify(strip(parse(output)), { sortMapEntries: true }) : output;
}

function strip(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strip);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, part]) => (key === 'managedFields' ? [] : [[key, strip(part)]])));
}
