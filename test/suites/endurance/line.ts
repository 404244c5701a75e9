import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The wire between one participant and the API server, with hands on it. */
export class Line {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #state: 'open' | 'cut' | 'held' = 'open';
  #held: (() => void)[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async to(port: number): Promise<Line> {
    const server = createServer({ noDelay: true });
    const line = new Line(server);
    server.on('connection', (near) => line.#join(near, connect({ port, host: '127.0.0.1', noDelay: true })));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return line;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Nothing gets through, nobody is told. */
  cut(): void {
    this.#state = 'cut';
  }

  /** Everything waits in the network, and arrives with {@link open}: late, and in order. */
  hold(): void {
    this.#state = 'held';
  }

  open(): void {
    // What was swallowed is missing from the stream, so those connections are no longer worth anything.
    if (this.#state === 'cut') this.#end();
    this.#state = 'open';
    const held = this.#held;
    this.#held = [];
    for (const pass of held) pass();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.on('data', (bytes) => this.#pass(() => to.write(bytes)));
      from.on('error', () => {});
      from.on('close', () => {
        this.#sockets.delete(from);
        this.#pass(() => to.destroySoon());
      });
    }
  }

  #pass(pass: () => void): void {
    if (this.#state === 'open') pass();
    else if (this.#state === 'held') this.#held.push(pass);
  }
}
