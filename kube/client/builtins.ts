/*
 * Node's network modules, loaded when first used and without an `import`: `import` reads every export of a module at once, and some exports are getters that
 * load more. Measured on Node 24.21: `import 'node:http'` loads the whole of fetch (6 MB of memory), `import 'node:tls'` the list of root certificates (1
 * MB). An agent runs on every node, so this memory counts.
 */
export const crypto = () => process.getBuiltinModule('node:crypto');
export const http = () => process.getBuiltinModule('node:http');
export const https = () => process.getBuiltinModule('node:https');
export const http2 = () => process.getBuiltinModule('node:http2');
export const net = () => process.getBuiltinModule('node:net');
export const tls = () => process.getBuiltinModule('node:tls');
