import { GatewayError } from '@sluice/errors';
import { Chain, type Linked } from '../chain/chain.ts';

/** The requests of callers that are not over, for whoever has to end them all. */
export class RequestsUnderWay {
  readonly #requests = new Chain<UnderWay>();

  /** @returns what is called once, when the request is over */
  begin(abort: AbortController): () => void {
    const request: UnderWay = { abort, older: undefined, newer: undefined };
    this.#requests.add(request);
    return () => this.#requests.delete(request);
  }

  /** The drain's deadline: each caller is told, in the words of what it is being answered. */
  cut(): void {
    for (const { abort } of [...this.#requests]) abort.abort(new GatewayError('gateway.draining'));
  }
}

interface UnderWay extends Linked<UnderWay> {
  readonly abort: AbortController;
}
