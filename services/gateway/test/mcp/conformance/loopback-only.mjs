import { Server } from 'node:net';

// A server that would listen on every address listens on this machine's own alone.
const listen = Server.prototype.listen;
Server.prototype.listen = function (port, ...rest) {
  if (!/^\d+$/.test(String(port))) return listen.call(this, port, ...rest);
  return listen.call(
    this,
    Number(port),
    '127.0.0.1',
    ...rest.filter((value) => typeof value !== 'string'),
  );
};
