import { GatewayError } from '@sluice/errors';

/** The requests of callers that are not over, for whoever has to end them all. */
export class RequestsUnderWay {
  readonly #aborts = new Set<AbortController>();

  /** @returns what is called once, when the request is over */
  begin(abort: AbortController): () => void {
    this.#aborts.add(abort);
    return () => this.#aborts.delete(abort);
  }

  /** The drain's deadline: each caller is told, in the words of what it is being answered. */
  cut(): void {
    for (const abort of [...this.#aborts]) abort.abort(new GatewayError('gateway.draining'));
  }
}
