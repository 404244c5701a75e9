import { join, resolve } from 'node:path';

/**
 * The checkout whose `dist/dkc.js` is measured, with the Node.js flags of its launcher and unit: this one, or `DKC_CHECKOUT` with another commit,
 * already built. The code that measures is always that of this checkout.
 */
export const checkout = resolve(process.env['DKC_CHECKOUT'] ?? join(import.meta.dirname, '..'));
export const bundle = join(checkout, 'dist/dkc.js');
