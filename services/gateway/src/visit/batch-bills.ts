import { GatewayError } from '@sluice/errors';
import { usage } from '@sluice/proto-stubs';
import { type ReplyFacts, type UnifiedRow, urlOfRow } from '@sluice/providers';
import type { Logger } from '@sluice/telemetry';
import type { UsageRecord } from '@sluice/usage';
import type { Bill } from '../exchange/bill.ts';
import { clipped } from '../exchange/clipped.ts';
import type { Target } from '../exchange/target.ts';
import { askedModel } from '../owners/asked-model.ts';
import type { BillClaims } from '../owners/bill-claims.ts';
import { addCounts } from '../usage/add-counts.ts';
import { addReply } from '../usage/add-reply.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import {
  billedObject,
  idOf,
  isForgotten,
  type LateBillParts,
  type LateBills,
  plausible,
} from './late-bills.ts';
import { callOf, type TargetVisit, targetOf } from './target-visit.ts';

const { Outcome } = usage;

/** A provider's batch, as far as its bill depends on it. */
export interface BilledBatch {
  readonly id: string;
  /** Unix ms, as the provider says it; 0 = it does not. */
  readonly createdAtMs: number;
  /**
   * That was asked; '' = nobody says it. Asked for once, and where there is a bill alone.
   * @param onUnread hears why it could not be found out
   */
  readonly modelOf: (onUnread: (error: unknown) => void) => Promise<string>;
}

export interface BatchBillParts extends Pick<LateBillParts, 'claims' | 'recorder' | 'price'> {
  readonly logger: Pick<Logger, 'warn'>;
  /** What a line that was answered is charged by. */
  readonly bill: (row: UnifiedRow, target: Target) => Bill;
}

/**
 * Bills what a provider's batch came to when somebody reads its rows: a record a
 * line, at the price of batches. The ids of records are made of batch and line,
 * so that ten readings at two gateways are one bill; limits count the first
 * reading that comes to the end.
 */
export class BatchBills {
  readonly #claims: BillClaims;
  readonly #recorder: UsageRecorder;
  readonly #price: LateBillParts['price'];
  readonly #bill: BatchBillParts['bill'];
  readonly #late: Pick<LateBills, 'count'>;
  readonly #logger: BatchBillParts['logger'];

  constructor(
    { claims, recorder, price, bill, logger }: BatchBillParts,
    late: Pick<LateBills, 'count'>,
  ) {
    this.#claims = claims;
    this.#recorder = recorder;
    this.#price = price;
    this.#bill = bill;
    this.#late = late;
    this.#logger = logger;
  }

  /** Undefined = it is billed already, or was made long ago. */
  async open(visit: TargetVisit, batch: BilledBatch): Promise<BatchBill | undefined> {
    const { startedAtMs } = visit.exchange.arrival;
    if (isForgotten(batch.createdAtMs, startedAtMs)) return undefined;
    const object = billedObject(visit, { id: batch.id, kind: 'batch' });
    if (await this.#claims.isTaken(object)) return undefined;
    const used: UsedByModel = new Map();
    const model = await batch.modelOf((error) =>
      this.#logger.warn(
        { err: error, batch: batch.id },
        'the lines of a batch could not be read: its rows count for the model that answered',
      ),
    );
    // What does not say when it was made is one bill a day: the time is a part of the records' ids.
    const at = plausible(batch.createdAtMs, startedAtMs - (startedAtMs % dayMs));
    // The last one tells what limits counted of all: it is stored when they did.
    let last: UsageRecord | undefined;
    const store = (record: UsageRecord | undefined) =>
      record === undefined ? undefined : this.#recorder.storeUse(record, visit.exchange);
    return {
      hear: async (row) => {
        const before = last;
        last = this.#recordOf(visit, { id: batch.id, model }, row, at, used);
        await store(before);
      },
      end: async () => {
        // Where nothing can be recorded, nothing is counted: whoever reads the rows again bills them.
        if (this.#recorder.isFull) throw new GatewayError('gateway.ledger_full');
        if (!(await this.#claims.take(object))) return;
        try {
          // Limits may be of one model.
          for (const [model, of] of used)
            await this.#late.count(visit, withModel(targetOf(visit), model), of, (held) => {
              if (last !== undefined) addCounts(last, held);
            });
          await store(last);
        } catch (error) {
          await this.#claims.release(object);
          throw error;
        }
        await this.#claims.keep(object);
      },
    };
  }

  /** Of one line; what it used is added to `used`. */
  #recordOf(
    visit: TargetVisit,
    batch: { readonly id: string; readonly model: string },
    row: UnifiedRow,
    atMs: number,
    used: UsedByModel,
  ): UsageRecord {
    const organisationId = visit.exchange.key?.source.organisationId ?? '';
    const { origin } = callOf(visit);
    const served = withModel(targetOf(visit), askedModel(batch.model, row.facts.model ?? ''));
    const bill = row.isSuccess ? this.#bill(row, served) : asTold(row.facts);
    const facts: ReplyFacts = { ...bill.facts, servedTier: batchTier };
    const priced = row.isSuccess ? this.#price(facts, served, atMs) : undefined;
    const record = this.#recorder.blankFor(visit.exchange, visit, served);
    record.createdAtMs = atMs;
    record.id = idOf(`${organisationId}\n${origin}\n${batch.id}\n${row.customId}`, atMs);
    record.attempt = visit.exchange.progress.attempts + 1;
    // An entry of its own in logs, as a line that a gateway runs.
    record.entryId = record.id;
    record.traceId = clipped(batch.id);
    record.spanName = clipped(row.customId);
    record.endpoint = row.endpoint;
    record.requestUrl = urlOfRow(row.endpoint);
    record.method = 'POST';
    record.isProxyCall = false;
    const isTold = row.isSuccess && row.status < 300;
    record.outcome = isTold ? Outcome.SUCCESS : Outcome.UPSTREAM_ERROR;
    record.statusCode = row.status;
    if (!isTold) record.errorCode = 'upstream.error';
    record.finishReason = clipped(facts.finishReason ?? '');
    record.responseModel = clipped(facts.model ?? '');
    record.latencyMs = 0;
    record.logFormat = '';
    record.decisionJson = JSON.stringify({
      batch: batch.id,
      custom_id: row.customId,
      ...(priced !== undefined &&
      row.endpoint === 'embed' &&
      this.#isGuessed(bill.facts, served, atMs, priced.cost.totalNanoUsd)
        ? { batch_price: 'half, for want of a listed one' }
        : {}),
    });
    addReply(record, { ...bill, facts }, priced);
    const tokens = (facts.usage?.inputTokens ?? 0) + (facts.usage?.outputTokens ?? 0);
    addUse(used, served.servedModel, tokens, priced?.cost.totalNanoUsd ?? 0);
    return record;
  }

  /** Vendors take about a fifth off embeddings in a batch: half of the price is what nobody has listed. */
  #isGuessed(
    { servedTier: _tier, ...facts }: ReplyFacts,
    served: Target,
    atMs: number,
    costNanoUsd: number,
  ): boolean {
    const standard = this.#price(facts, served, atMs)?.cost.totalNanoUsd ?? 0;
    return Math.abs(standard - 2 * costNanoUsd) <= 1;
  }
}

/** One reading of a batch's rows. */
export interface BatchBill {
  /** Never for a row that the caller does not get. */
  hear(row: UnifiedRow): Promise<void>;
  /** All rows were heard. @throws GatewayError `gateway.ledger_full` where nothing can be recorded */
  end(): Promise<void>;
}

const batchTier = 'batch';
const asTold = (facts: ReplyFacts): Bill => ({ facts, isEstimated: false, isImplausible: false });
const dayMs = 24 * 60 * 60_000;

/** What the lines of a batch used, by the model that was asked. */
type UsedByModel = Map<string, { tokens: number; costNanoUsd: number }>;

/** Each is a call of Redis; few batches have more than one. */
const modelsMax = 100;

function addUse(used: UsedByModel, model: string, tokens: number, costNanoUsd: number): void {
  if (tokens === 0 && costNanoUsd === 0) return;
  const name = used.has(model) || used.size < modelsMax ? model : '';
  const before = used.get(name) ?? { tokens: 0, costNanoUsd: 0 };
  used.set(name, {
    tokens: before.tokens + tokens,
    costNanoUsd: before.costNanoUsd + costNanoUsd,
  });
}

/** The call that reads the rows names no model. */
function withModel(target: Target, model: string): Target {
  return target.servedModel === '' ? { ...target, servedModel: model } : target;
}
