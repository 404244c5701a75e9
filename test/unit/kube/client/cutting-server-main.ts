import { cuttingServer, type Cut } from './cutting-server.ts';

/** A cutting server whose parent tells it when to cut. Ends with its parent. */
const server = await cuttingServer();
process.on('message', (how: Cut) => {
  void server.cut(how).then(() => process.send?.('done'));
});
process.once('disconnect', () => process.exit());
process.send?.({ url: server.url, caPem: server.caPem, token: server.token });
