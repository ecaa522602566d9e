import type { JsonObject } from '@sluice/contracts';
import { type ModelExchange, openExchange } from '../exchange/exchange.ts';

/** One visit of the model within a request: asked by the same caller as they were let in, counted, routed and recorded by itself. */
export function openRound(exchange: ModelExchange, json: JsonObject, round: number): ModelExchange {
  const { arrival, subject, key, bundle, metadata, isSavedOnly, config, progress } = exchange;
  const now =
    round === 1 ? arrival : { ...arrival, startedAt: performance.now(), startedAtMs: Date.now() };
  const asked = {
    ...subject,
    json,
    body: Buffer.from(JSON.stringify(json)),
    measured: undefined,
    toolRound: round,
  };
  const opened = openExchange(now, asked);
  if (round === 1) {
    opened.progress.readingMs = progress.readingMs;
    opened.progress.authenticationMs = progress.authenticationMs;
  }
  // What all calls may cost is said once for the request, and so is what they came to.
  opened.progress.takeUse(progress);
  return Object.assign(opened, { key, bundle, metadata, isSavedOnly, config });
}
