/**
 * One participant of `npm run chart`'s network, started in a namespace of its
 * own: listens on every port that it is told, and tries those of the others.
 */
import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';

/** One connection to try. */
export interface Attempt {
  readonly address: string;
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
  /** How long to wait for the answer, in milliseconds. */
  readonly wait: number;
}

/** What a participant is told; it answers `true` when it listens, and then whether each attempt reached somebody. */
export type Order =
  | { readonly listen: readonly number[]; readonly datagrams: readonly number[] }
  | { readonly attempts: readonly Attempt[] };

const atOnce = 400;

// Who started us is gone.
process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  if ('listen' in order) {
    await Promise.all([...order.listen.map(listen), ...order.datagrams.map(echo)]);
    process.send?.(true);
    return;
  }
  const reached: boolean[] = [];
  for (let from = 0; from < order.attempts.length; from += atOnce)
    reached.push(...(await Promise.all(order.attempts.slice(from, from + atOnce).map(reach))));
  process.send?.(reached);
});

function listen(port: number): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => undefined).end('.'));
  return new Promise((resolve) => server.listen(port, '0.0.0.0', 1024, resolve));
}

function echo(port: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('message', (data, from) => socket.send(data, from.port, from.address));
  return new Promise((resolve) => socket.bind(port, '0.0.0.0', resolve));
}

function reach({ address, port, protocol, wait }: Attempt): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => done(false), wait);
    const socket = protocol === 'TCP' ? connect({ host: address, port }) : createSocket('udp4');
    const done = (isReached: boolean) => {
      clearTimeout(timer);
      if ('destroy' in socket) socket.destroy();
      else socket.close();
      resolve(isReached);
    };
    // A rule of `output` that drops tells the sender so with EPERM.
    socket.once('error', () => done(false));
    if ('destroy' in socket) socket.once('data', () => done(true));
    else {
      socket.once('message', () => done(true));
      socket.send('?', port, address, (error) => error !== null && done(false));
    }
  });
}
