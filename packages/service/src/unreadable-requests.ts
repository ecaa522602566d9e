import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Of what never becomes a request: it is no HTTP, or more of it than is read. */
export type UnreadableStatus = 400 | 408 | 413 | 431;

const statusOfCode: Readonly<Record<string, UnreadableStatus>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const reasons: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  413: 'Content Too Large',
  431: 'Request Header Fields Too Large',
};

export interface WrittenAnswer {
  /** Without length and connection. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Has what never becomes a request answered in the words of `answer`, where Node would send a bare status.
 * A caller in the middle of another answer is cut off: more bytes would be taken for part of that one.
 */
export function answerUnreadable(
  server: Server,
  answer: (status: UnreadableStatus) => WrittenAnswer,
): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    // The answer under way, as Node's own handler of this event finds it.
    const { _httpMessage: current } = socket as { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || !socket.writable || current?.headersSent === true)
      return socket.destroy(error);
    const status = statusOfCode[error.code ?? ''] ?? 400;
    endByHand(socket, status, answer(status));
  });
}

/** Writes an answer where there is no response to write it with, and closes. */
export function endByHand(socket: Duplex, status: number, { headers, body }: WrittenAnswer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  socket.end(
    [
      `HTTP/1.1 ${status} ${reasons[status] ?? ''}`,
      ...lines,
      length,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // What comes after is read for a moment, and by nobody: to close with unread bytes resets the connection, and the answer is lost.
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

const lingerMs = 1_000;
