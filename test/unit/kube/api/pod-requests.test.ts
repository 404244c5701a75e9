import assert from 'node:assert/strict';
import { test } from 'node:test';
import { portsConflict } from '../../../../kube/api/pod-requests.ts';

const at = (ip: string, port = 80, protocol = 'TCP') => ({ ip, port, protocol });
const all = at('0.0.0.0');
const pairs = [
  { a: all, b: at('10.0.0.1'), conflict: true },
  { a: at('10.0.0.1'), b: all, conflict: true },
  { a: at('10.0.0.1'), b: at('10.0.0.2'), conflict: false },
  { a: all, b: at('0.0.0.0', 80, 'UDP'), conflict: false },
  { a: all, b: at('0.0.0.0', 443), conflict: false },
];
test('host ports conflict at one address of one protocol; 0.0.0.0 is every address', () => {
  for (const { a, b, conflict } of pairs) assert.equal(portsConflict(a, b), conflict, JSON.stringify([a, b]));
});
