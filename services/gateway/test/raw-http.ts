import { connect, type Socket } from 'node:net';
import { waitMs } from '@sluice/testkit';

/** Well below the 75 s after which a gateway closes what is idle. */
const closedMs = 30_000;

export interface RawReply {
  status: number;
  reason: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** A connection on which a test decides about every byte. */
export interface RawConnection {
  readonly socket: Socket;
  readonly received: () => Buffer;
  write(bytes: string | Buffer): Promise<void>;
  /** The next whole answer; fails when the connection ends or stays silent before. */
  reply(options?: { to?: string; timeoutMs?: number }): Promise<RawReply>;
  /** Resolves when the other side has closed. */
  closed(timeoutMs?: number): Promise<void>;
  end(): void;
}

export async function openRaw(origin: string): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let unread = Buffer.alloc(0);
  let all = Buffer.alloc(0);
  let isClosed = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const listener of [...waiting]) listener();
  };
  socket.on('data', (chunk) => {
    unread = Buffer.concat([unread, chunk]);
    all = Buffer.concat([all, chunk]).subarray(-65_536);
    wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    wake();
  });
  socket.on('end', () => {
    isClosed = true;
    wake();
  });

  function until<T>(what: string, timeoutMs: number, found: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const value = found();
        if (value === undefined && !isClosed) return;
        clearTimeout(timer);
        waiting.delete(check);
        if (value !== undefined) resolve(value);
        else reject(new Error(`closed before ${what}; received ${JSON.stringify(all.toString())}`));
      };
      const timer = setTimeout(() => {
        waiting.delete(check);
        reject(
          new Error(`no ${what} in ${timeoutMs} ms; received ${JSON.stringify(all.toString())}`),
        );
      }, timeoutMs);
      waiting.add(check);
      check();
    });
  }

  return {
    socket,
    received: () => all,
    write: (bytes) =>
      new Promise((resolve) => {
        socket.write(bytes, () => resolve());
      }),
    reply: ({ to = 'GET', timeoutMs = waitMs } = {}) =>
      until('a whole answer', timeoutMs, () => {
        const parsed = parseReply(unread, to, isClosed);
        if (parsed === undefined) return undefined;
        unread = unread.subarray(parsed.end);
        return parsed.reply;
      }),
    closed: (timeoutMs = closedMs) =>
      until('close', timeoutMs, () => (isClosed ? true : undefined)).then(() => {}),
    end: () => void socket.destroy(),
  };
}

/** One answer at the start of `bytes`; interim ones are skipped. Throws on what is not HTTP. */
export function parseReply(
  bytes: Buffer,
  method: string,
  isClosed: boolean,
): { reply: RawReply; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const match = /^HTTP\/1\.1 (\d{3}) ?(.*)$/.exec(statusLine);
  if (match === null) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
  const status = Number(match[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const pair = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line);
    if (pair === null) throw new Error(`not a header line: ${JSON.stringify(line)}`);
    const name = (pair[1] ?? '').toLowerCase();
    headers[name] = name in headers ? `${headers[name]}, ${pair[2]}` : (pair[2] ?? '');
  }
  const start = headEnd + 4;
  if (status < 200) {
    const next = parseReply(bytes.subarray(start), method, isClosed);
    return next && { reply: next.reply, end: start + next.end };
  }
  const reply = { status, reason: match[2] ?? '', headers, body: Buffer.alloc(0) };
  if (method === 'HEAD' || status === 204 || status === 304) return { reply, end: start };
  if (/chunked/i.test(headers['transfer-encoding'] ?? '')) {
    const parts: Buffer[] = [];
    let at = start;
    for (;;) {
      const lineEnd = bytes.indexOf('\r\n', at);
      if (lineEnd < 0) return undefined;
      const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
      if (Number.isNaN(size)) throw new Error('not a chunk size');
      if (bytes.length < lineEnd + 2 + size + 2) return undefined;
      if (size === 0) return { reply: { ...reply, body: Buffer.concat(parts) }, end: lineEnd + 4 };
      parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
      at = lineEnd + 2 + size + 2;
    }
  }
  if (headers['content-length'] !== undefined) {
    const end = start + Number(headers['content-length']);
    if (bytes.length < end) return undefined;
    return { reply: { ...reply, body: bytes.subarray(start, end) }, end };
  }
  // Without a length the body is everything up to the close.
  if (!isClosed) return undefined;
  return { reply: { ...reply, body: bytes.subarray(start) }, end: bytes.length };
}
