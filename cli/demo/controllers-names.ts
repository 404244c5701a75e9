/** Of what the demo of the controllers has. */
export const SHOP = 'shop';
export const NODES = 6;
