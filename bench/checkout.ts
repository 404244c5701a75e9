import { join, resolve } from 'node:path';

/**
 * The checkout whose `dist/dkc.js` is measured, with the flags that its own launcher and unit give to Node.js: this one, or another commit's in `DKC_CHECKOUT`,
 * built there before. What measures is always this one's.
 */
export const checkout = resolve(process.env['DKC_CHECKOUT'] ?? join(import.meta.dirname, '..'));
export const bundle = join(checkout, 'dist/dkc.js');
