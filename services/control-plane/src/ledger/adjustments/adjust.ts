import { create, toBinary } from '@bufbuild/protobuf';
import type { AnswerOf, BodyOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { PriceBook, TokenDifference } from '@sluice/pricing';
import { usage } from '@sluice/proto-stubs';
import { encodeEntry, uuidText } from '@sluice/usage';
import { actorOf } from '../../kernel/access/caller.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import type { Turns } from '../../kernel/database/turns.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { Ledger } from '../analytics/ledger.ts';
import { presentAdjustment } from './present.ts';
import { priceTokens } from './price-tokens.ts';
import { inOrder } from './store.ts';

type Asked = BodyOf<'ledger.adjustments.create'>;

export interface AdjustParts {
  readonly ledger: Pick<Ledger, 'getLog' | 'listAdjustments' | 'writeUsage'>;
  readonly book: Pick<PriceBook, 'lookUp'>;
  readonly client: DatabaseClient;
  /** Each holds a connection. */
  readonly turns: Turns;
}

const nanoUsdPerCent = 1e7;
/** An attempt is seldom adjusted twice. */
const earlierMax = 1000;

/**
 * Adds to what an attempt cost. It takes the way of every entry of the ledger, as what `npm run prices -- reprice`
 * finds does. An id that was used for the same before answers what it made then. Adjustments of an organisation have one
 * order, so that two calls with one id cannot both be the first; its changes do not wait for the ledger.
 */
export async function adjust(
  call: AdminRequest,
  asked: Asked,
  parts: AdjustParts,
): Promise<AnswerOf<'ledger.adjustments.create'>> {
  const { organisationId } = call.caller;
  const { adjustment, isNew } = await parts.turns.take(() =>
    inOrder(parts.client, organisationId, () => writeOnce(call, asked, parts)),
  );
  const shown = presentAdjustment(adjustment);
  return call.change(async ({ describe }) => {
    describe({
      resourceId: shown.id,
      workspaceId: adjustment.workspaceId,
      ...(isNew && { after: shown }),
    });
    return shown;
  });
}

async function writeOnce(
  { caller, now }: AdminRequest,
  asked: Asked,
  { ledger, book }: AdjustParts,
): Promise<{ adjustment: usage.Adjustment; isNew: boolean }> {
  const { organisationId } = caller;
  const again = await findById(ledger, organisationId, asked);
  if (again !== undefined) return { adjustment: again, isNew: false };
  const record = await findRecord(ledger, organisationId, asked.record_id);
  const { adjustments: earlier } = await ledger.listAdjustments({
    organisationId,
    recordId: asked.record_id,
    pageSize: earlierMax,
  });
  const adjustment = create(usage.AdjustmentSchema, {
    id: bytesOf(asked.id ?? newId(now.getTime())),
    recordId: record.id,
    organisationId,
    workspaceId: record.workspaceId,
    attemptCreatedAtMs: record.createdAtMs,
    createdAtMs: BigInt(now.getTime()),
    ...costOf(asked, record, earlier, book),
    makesKnown: !record.costKnown && earlier.length === 0,
    reason: asked.reason,
    author: actorOf(caller),
  });
  const body = toBinary(usage.AdjustmentSchema, adjustment);
  await ledger.writeUsage({ records: [encodeEntry(usage.EntryKind.ADJUSTMENT, body)] });
  return { adjustment, isNew: true };
}

/** @throws GatewayError `admin.conflict` where the id is that of another adjustment */
async function findById(
  ledger: AdjustParts['ledger'],
  organisationId: string,
  asked: Asked,
): Promise<usage.Adjustment | undefined> {
  if (asked.id === undefined) return undefined;
  const { adjustments } = await ledger.listAdjustments({
    organisationId,
    id: asked.id,
    pageSize: 1,
  });
  const [found] = adjustments;
  if (found === undefined) return undefined;
  const isSame =
    uuidText(found.recordId) === asked.record_id &&
    found.reason === asked.reason &&
    (asked.cost === undefined
      ? found.inputTokens === BigInt(asked.input_tokens ?? 0) &&
        found.outputTokens === BigInt(asked.output_tokens ?? 0)
      : found.costNanoUsd === nanoUsdOf(asked.cost));
  if (!isSame)
    throw new GatewayError('admin.conflict', {
      field: 'body.id',
      message: 'There is another adjustment with this id.',
    });
  return found;
}

async function findRecord(
  ledger: AdjustParts['ledger'],
  organisationId: string,
  id: string,
): Promise<usage.UsageRecord> {
  const { attempts } = await ledger.getLog({ organisationId, id });
  const record = attempts.find((attempt) => uuidText(attempt.id) === id);
  if (record === undefined)
    throw new GatewayError('admin.not_found', { message: 'There is no record with this id.' });
  return record;
}

function costOf(
  asked: Asked,
  record: usage.UsageRecord,
  earlier: readonly usage.Adjustment[],
  book: AdjustParts['book'],
) {
  if (asked.cost !== undefined)
    return {
      costNanoUsd: nanoUsdOf(asked.cost),
      priceLayer: record.priceLayer,
      priceBookVersion: asked.price_version ?? '',
    };
  const difference: TokenDifference = {
    input: asked.input_tokens ?? 0,
    output: asked.output_tokens ?? 0,
  };
  const priced = priceTokens(book, record, earlier, difference);
  return {
    ...priced,
    inputTokens: BigInt(difference.input),
    outputTokens: BigInt(difference.output),
    priceBookVersion: asked.price_version ?? priced.priceBookVersion,
  };
}

function nanoUsdOf(cents: number): bigint {
  return BigInt(Math.round(cents * nanoUsdPerCent));
}

function bytesOf(id: string): Uint8Array {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
