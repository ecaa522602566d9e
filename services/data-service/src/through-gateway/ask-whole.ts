import type { Dispatcher } from 'undici';

export interface WholeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Undefined = there is more than so much of it. */
  readonly bytes: Buffer | undefined;
}

export interface WholeRequest {
  readonly method: 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** For the headers of the answer, and between two pieces of it. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

/** One request and the whole of its answer, without a stream for either: of a line of a batch that is half of what it costs. */
export function askWhole(
  pool: Dispatcher,
  { method, path, headers, body, timeoutMs, bytesMax, signal }: WholeRequest,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined;
    let status = 0;
    let answered: WholeAnswer['headers'] = {};
    const pieces: Buffer[] = [];
    let held = 0;
    const abort = () => {
      controller?.abort(reasonOf(signal));
      reject(reasonOf(signal));
    };
    const over = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) return reject(reasonOf(signal));
    signal.addEventListener('abort', abort);
    pool.dispatch(
      { method, path, headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs },
      {
        onRequestStart(started) {
          controller = started;
          if (signal.aborted) abort();
        },
        onResponseStart(_controller, statusCode, head) {
          status = statusCode;
          answered = head;
        },
        onResponseData(_controller, piece) {
          held += piece.length;
          if (held <= bytesMax) return void pieces.push(piece);
          over();
          resolve({ status, headers: answered, bytes: undefined });
          _controller.abort(new Error('the answer is too large'));
        },
        onResponseEnd() {
          over();
          const [first] = pieces;
          const bytes = pieces.length === 1 && first ? first : Buffer.concat(pieces);
          resolve({ status, headers: answered, bytes });
        },
        onResponseError(_controller, error) {
          over();
          reject(error);
        },
      },
    );
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('it was called off');
}
