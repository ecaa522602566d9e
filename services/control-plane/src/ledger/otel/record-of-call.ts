import { createHash } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { costOfReply, type PriceBook, tokensOf, unitsOf } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import type { ToldCall } from './told-call.ts';

type RecordInit = MessageInitShape<typeof usage.UsageRecordSchema>;

/** Where and when the call was made, by who told of it. */
export interface CallPlace {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly spanName: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly hasFailed: boolean;
}

export interface CallOwner {
  readonly organisationId: string;
  readonly workspaceId: string;
  readonly workspaceSlug: string;
  readonly apiKeyId: string;
  readonly userId: string;
}

/** A call that did not pass a gateway, as the ledger keeps it: found, counted and priced like others. */
export function recordOfCall(
  call: ToldCall,
  place: CallPlace,
  owner: CallOwner,
  book: Pick<PriceBook, 'lookUp'>,
): RecordInit {
  const id = idOf(place, owner);
  const durationMs = Math.max(0, place.endMs - place.startMs);
  const hasFailed = place.hasFailed || call.errorType !== '' || call.statusCode >= 400;
  return {
    ...owner,
    id,
    requestId: id,
    createdAtMs: BigInt(Math.floor(place.startMs)),
    traceId: hexOf(place.traceId),
    spanId: hexOf(place.spanId),
    parentSpanId: hexOf(place.parentSpanId),
    spanName: place.spanName.slice(0, 256).toWellFormed(),
    metadata: call.metadata,
    source: 'otel',
    method: 'POST',
    requestUrl: '/v1/otel/v1/traces',
    endpoint: 'otel',
    stream: call.isStream,
    strategyMode: 'single',
    optionPath: 'config',
    cacheStatus: 'DISABLED',
    provider: call.provider,
    model: call.model,
    responseModel: call.responseModel,
    serviceTier: call.serviceTier,
    servedRegion: call.servedRegion,
    finishReason: call.finishReason,
    outcome: hasFailed ? usage.Outcome.UPSTREAM_ERROR : usage.Outcome.SUCCESS,
    statusCode: call.statusCode || (hasFailed ? 500 : 200),
    errorCode: hasFailed ? 'upstream.error' : '',
    latencyMs: durationMs,
    entryMs: durationMs,
    attemptMs: durationMs,
    ...call.use,
    ...costFields(call, place.startMs, book),
  };
}

/** By the list, on the day of the call: of the model that answered, unless only the one asked for has a price. */
function costFields(
  { use, provider, model, responseModel, serviceTier, servedRegion }: ToldCall,
  atMs: number,
  book: Pick<PriceBook, 'lookUp'>,
): RecordInit {
  if (use === undefined || provider === '') return {};
  const [tokens, units] = [tokensOf(use), unitsOf(use)];
  for (const name of new Set([responseModel, model])) {
    if (name === '') continue;
    const place = { tier: serviceTier, region: servedRegion };
    const rates = book.lookUp({ provider, model: name, atMs, ...place });
    const cost = rates === undefined ? undefined : costOfReply(rates, tokens, units);
    if (rates === undefined || cost === undefined) continue;
    return {
      costKnown: true,
      costNanoUsd: BigInt(cost.totalNanoUsd),
      inputCostNanoUsd: BigInt(cost.inputNanoUsd),
      outputCostNanoUsd: BigInt(cost.outputNanoUsd),
      priceLayer: rates.layer,
      priceBookVersion: rates.version,
      usageImplausible: cost.isCut === true,
    };
  }
  return {};
}

/** A UUIDv7 that is the same whenever the same span is sent, and nobody else's. */
function idOf({ startMs, traceId, spanId }: CallPlace, owner: CallOwner): Uint8Array {
  const id = createHash('sha256')
    .update(`otel:${owner.organisationId}:${owner.workspaceId}:${hexOf(traceId)}:${hexOf(spanId)}`)
    .digest()
    .subarray(0, 16);
  id.writeUIntBE(Math.floor(startMs), 0, 6);
  id[6] = 0x70 | ((id[6] ?? 0) & 0x0f);
  id[8] = 0x80 | ((id[8] ?? 0) & 0x3f);
  return id;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
