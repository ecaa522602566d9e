import { randomBytes } from 'node:crypto';
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { FilePrices, PriceBook, readPriceFile } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { readEntry } from '@sluice/usage';
import { describe, expect, it } from 'vitest';
import { reprice } from './reprice.ts';

const dayMs = 24 * 3600 * 1000;
const atMs = Date.UTC(2026, 10, 20, 12);
const period = { fromMs: atMs - dayMs, toMs: atMs + dayMs, organisationId: '', isDryRun: false };

describe('reprice', () => {
  it('adjusts past attempts to the prices that hold now, and changes nothing the second time', async () => {
    const ledger = new FakeLedger([
      // At 1,250 and 10,000 nano-dollars a token, as it was charged.
      record({ model: 'gpt-5.1', costNanoUsd: 1000n * 1250n + 100n * 10_000n }),
      // As flex it costs half, and was charged in full.
      record({ model: 'gpt-5.1', serviceTier: 'flex', costNanoUsd: 2_250_000n }),
      // Twice of it, by a multiplier.
      record({ model: 'gpt-5.1', priceMultiplier: 2, costNanoUsd: 4_000_000n }),
      // Free, by a multiplier of nothing.
      record({ model: 'gpt-5.1', priceMultiplier: 1e-300, costNanoUsd: 0n }),
      // Had no known price.
      record({ model: 'mine', costKnown: false, costNanoUsd: 0n }),
      record({ model: 'nobody-knows', costKnown: false, costNanoUsd: 0n }),
      record({ model: 'gpt-5.1', priceLayer: 'custom', costNanoUsd: 1n }),
      // Most of it an advisor's, by prices of its own.
      record({
        model: 'gpt-5.1',
        units: { other_model_request_token: 100_000n, other_model_response_token: 2000n },
        costNanoUsd: 900_000_000n,
      }),
    ]);
    const first = await reprice(ledger.client, book(), period);
    expect(first).toEqual({
      seen: 8,
      changed: 3,
      custom: 1,
      others: 1,
      unpriced: 1,
      addedNanoUsd: -1_125_000n + 500_000n + 1_000_000n,
    });
    expect(ledger.charged()).toEqual([
      ...[2_250_000n, 1_125_000n, 4_500_000n, 0n, 1_000_000n, 0n, 1n],
      900_000_000n,
    ]);
    const second = await reprice(ledger.client, book(), period);
    expect(second).toEqual({ ...first, changed: 0, addedNanoUsd: 0n });
    expect(ledger.adjustments).toHaveLength(3);
    expect(ledger.adjustments.map(({ makesKnown }) => makesKnown)).toEqual([false, false, true]);
  });

  it('takes back nothing that administrators gave back, added or said', async () => {
    const charged = 1000n * 1250n + 100n * 10_000n;
    const priced = { model: 'gpt-5.1', costNanoUsd: charged };
    const attempts = [
      record(priced),
      record({ ...priced, costNanoUsd: 1n }),
      record({ model: 'gpt-5.1', costKnown: false, costNanoUsd: 0n }),
      record(priced),
      record({ ...priced, costNanoUsd: 1n }),
    ];
    const ledger = new FakeLedger(attempts);
    const say = (place: number, some: MessageInitShape<typeof usage.AdjustmentSchema>) =>
      ledger.add({ recordId: attempts[place]?.id, author: 'ada', ...some });
    say(0, { costNanoUsd: -charged });
    say(1, { costNanoUsd: 5000n });
    say(2, { costNanoUsd: 77n, makesKnown: true });
    for (const place of [3, 4]) say(place, { inputTokens: 10n, costNanoUsd: 12_500n });
    const { changed, custom } = await reprice(ledger.client, book(), period);
    expect([changed, custom]).toEqual([2, 1]);
    expect(ledger.charged()).toEqual([
      0n,
      charged + 5000n,
      77n,
      charged + 12_500n,
      charged + 12_500n,
    ]);
    expect(await reprice(ledger.client, book(), period)).toMatchObject({ changed: 0 });
  });

  it('makes the same entries when it is run beside itself', async () => {
    const attempts = [record({ model: 'gpt-5.1', costNanoUsd: 1n })];
    const [one, other] = [new FakeLedger(attempts), new FakeLedger(attempts)];
    await reprice(one.client, book(), period);
    await reprice(other.client, book(), period);
    expect(one.adjustments[0]?.id).toEqual(other.adjustments[0]?.id);
  });

  it('adjusts sides that were charged apart, and searches, images and billed tokens with them', async () => {
    const ledger = new FakeLedger([
      record({
        model: 'gpt-5.1',
        units: { web_search: 2n },
        costNanoUsd: 2_250_000n,
        inputCostNanoUsd: 1_250_000n,
      }),
      record({
        model: 'dall-e-3',
        usageReported: false,
        images: 2n,
        imagesByKind: { 'hd.1024x1024': 2n },
        costKnown: false,
      }),
      record({
        provider: 'cohere',
        model: 'command-r-08-2024',
        units: { charged_request_token: 10n, charged_response_token: 0n },
        costKnown: false,
      }),
    ]);
    await reprice(ledger.client, book(), period);
    expect(ledger.adjustments.map(({ costNanoUsd }) => costNanoUsd)).toEqual([
      20_000_000n,
      160_000_000n,
      1500n,
    ]);
    expect(ledger.adjustments[0]).toMatchObject({
      inputCostNanoUsd: 20_000_000n,
      outputCostNanoUsd: 1_000_000n,
    });
  });

  it('only tells what would change when it is asked to', async () => {
    const ledger = new FakeLedger([record({ model: 'gpt-5.1', costNanoUsd: 1n })]);
    expect(await reprice(ledger.client, book(), { ...period, isDryRun: true })).toMatchObject({
      changed: 1,
    });
    expect(ledger.adjustments).toEqual([]);
  });
});

/** A file with a price of a model that no catalogue knows. */
function book(): PriceBook {
  const reading = readPriceFile({
    mine: { pricing_config: { pay_as_you_go: { request_token: { price: 0.0001 } } } },
  });
  let step = reading.next();
  while (!step.done) step = reading.next();
  const providers = new Map([['openai', { version: 'files@1', models: step.value.models }]]);
  return new PriceBook(new FilePrices([{ effectiveAtMs: 0, providers }]));
}

function record(some: MessageInitShape<typeof usage.UsageRecordSchema>): usage.UsageRecord {
  const requestId = randomBytes(16);
  requestId.writeUIntBE(atMs, 0, 6);
  return create(usage.UsageRecordSchema, {
    id: randomBytes(16),
    requestId,
    createdAtMs: BigInt(atMs),
    organisationId: 'org-1',
    provider: 'openai',
    usageReported: true,
    inputTokens: 1000n,
    outputTokens: 100n,
    costKnown: true,
    priceLayer: 'catalogue',
    ...some,
  });
}

/** Stores adjustments by their ids and sums them up, as the data service does. */
class FakeLedger {
  readonly #records: readonly usage.UsageRecord[];
  readonly #adjustments = new Map<string, usage.Adjustment>();

  constructor(records: readonly usage.UsageRecord[]) {
    this.#records = records;
  }

  add(some: MessageInitShape<typeof usage.AdjustmentSchema>): void {
    const adjustment = create(usage.AdjustmentSchema, { id: randomBytes(16), ...some });
    this.#adjustments.set(Buffer.from(adjustment.id).toString('hex'), adjustment);
  }

  get adjustments(): usage.Adjustment[] {
    return [...this.#adjustments.values()];
  }

  charged(): bigint[] {
    return this.#records.map(
      (record) => record.costNanoUsd + this.#adjusted(record, 'costNanoUsd'),
    );
  }

  #adjusted(
    record: usage.UsageRecord,
    amount: 'costNanoUsd' | 'inputCostNanoUsd' | 'outputCostNanoUsd',
    adjustments = this.#of(record),
  ): bigint {
    return adjustments.reduce((sum, adjustment) => sum + adjustment[amount], 0n);
  }

  #of(record: usage.UsageRecord): usage.Adjustment[] {
    return this.adjustments.filter(({ recordId }) => Buffer.from(recordId).equals(record.id));
  }

  readonly client = {
    serverStream: (_method: unknown, request: { fromMs: bigint; toMs: bigint }) =>
      this.#list(request),
    unary: async (_method: unknown, request: { records: Uint8Array[] }) => {
      for (const bytes of request.records) {
        const { kind, body } = readEntry(bytes);
        expect(kind).toBe(usage.EntryKind.ADJUSTMENT);
        const adjustment = fromBinary(usage.AdjustmentSchema, body);
        this.#adjustments.set(Buffer.from(adjustment.id).toString('hex'), adjustment);
      }
      return {};
    },
  } as unknown as RpcClient;

  async *#list({ fromMs, toMs }: { fromMs: bigint; toMs: bigint }) {
    const charges = this.#records
      .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)
      .map((one) => {
        const isSaid = (adjustment: usage.Adjustment) =>
          adjustment.author !== '' &&
          adjustment.inputTokens === 0n &&
          adjustment.outputTokens === 0n;
        const all = this.#of(one);
        const priced = all.filter((adjustment) => !isSaid(adjustment));
        return {
          record: one,
          adjusted: priced.length > 0,
          adjustedNanoUsd: this.#adjusted(one, 'costNanoUsd', priced),
          adjustedInputNanoUsd: this.#adjusted(one, 'inputCostNanoUsd', priced),
          adjustedOutputNanoUsd: this.#adjusted(one, 'outputCostNanoUsd', priced),
          moreInputTokens: all.reduce((sum, { inputTokens }) => sum + inputTokens, 0n),
          moreOutputTokens: all.reduce((sum, { outputTokens }) => sum + outputTokens, 0n),
          costSaid: all.some((adjustment) => adjustment.makesKnown && isSaid(adjustment)),
        };
      });
    yield create(usage.ListChargesResponseSchema, { charges });
  }
}
