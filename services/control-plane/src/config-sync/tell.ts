import { once } from 'node:events';

/** A reader so slow that this much waits for it is told to fetch everything again instead. */
const waitingMax = 10_000;

export interface TellOptions<Message> {
  ready: Message;
  heartbeatMs: number;
  signal: AbortSignal;
  /** Begins to push what there is to tell. */
  subscribe(push: (message: Message) => void): Subscription<Message>;
}

export interface Subscription<Message> {
  heartbeat(): Message;
  end(): void;
}

/** One gateway's stream: what is pushed, in its order, and a heartbeat. */
export async function* tell<Message>(options: TellOptions<Message>): AsyncGenerator<Message> {
  const { ready, heartbeatMs, signal, subscribe } = options;
  let waiting: Message[] = [];
  const wake = new EventTarget();
  const push = (message: Message) => {
    if (waiting.length >= waitingMax) waiting = [ready];
    else waiting.push(message);
    wake.dispatchEvent(new Event('message'));
  };
  const subscription = subscribe(push);
  const beat = setInterval(() => push(subscription.heartbeat()), heartbeatMs);
  try {
    while (!signal.aborted) {
      if (waiting.length === 0) await once(wake, 'message', { signal }).catch(ignoreAbort);
      const batch = waiting;
      waiting = [];
      for (const message of batch) {
        if (signal.aborted) return;
        yield message;
      }
    }
  } finally {
    clearInterval(beat);
    subscription.end();
  }
}

function ignoreAbort(error: unknown): void {
  if ((error as { name?: string }).name !== 'AbortError') throw error;
}
