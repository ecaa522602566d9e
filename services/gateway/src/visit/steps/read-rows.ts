import { uuidOfStored } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { namesInRows, VendorRefusal } from '@sluice/providers';
import { addressAuthor } from '../../calls/prepare/address-author.ts';
import { checkedBase } from '../../calls/prepare/call-address.ts';
import { contextOf } from '../../calls/prepare/call-context.ts';
import type { CallRules } from '../../calls/prepare/call-rules.ts';
import { type AskParts, askVendor } from '../../calls/vendor-work.ts';
import { isAskedAlone } from '../../exchange/asked-alone.ts';
import type { NamedObjects } from '../../exchange/named-objects.ts';
import { abortReason } from '../../http/caller-gone.ts';
import type { OwnerNotes } from '../../owners/owner-notes.ts';
import { PassingRows } from '../../owners/passing-rows.ts';
import { othersInRows } from '../../owners/route-to-owner.ts';
import type { BatchParts } from '../asking-batches.ts';
import { workHeaders } from '../prepare-files.ts';
import { proxyEntry } from '../proxy-entry.ts';
import type { Step } from '../step.ts';
import { callOf, type TargetVisit, targetOf } from '../target-visit.ts';
import { openFile } from '../vendor-content.ts';
import type { ContentPlace } from '../vendor-place.ts';
import { factsOf, refuseNamed, refuseOthers } from './note-owner.ts';

export interface ReadRowsParts extends CallRules, AskParts, Pick<BatchParts, 'readStored'> {
  owners: OwnerNotes;
}

type File = NamedObjects['ids'][number] & {
  rows: NonNullable<NamedObjects['ids'][number]['rows']>;
};

/** More than any vendor's batch may have. */
const bytesMax = 1024 * 1024 * 1024;
const deadlineMs = 120_000;
const refusalBytesMax = 2_000;

/**
 * Rows of a file that a provider works through are read before it is asked to: beside a credential that is shared they may name
 * what another workspace keeps there. One pass over the file, of which nothing is kept.
 */
export function readRows(parts: ReadRowsParts): Step {
  return {
    run(visit, next) {
      const { subject } = visit.exchange;
      if (subject.operation.about !== 'object' && subject.operation.id !== 'proxy')
        return next(visit);
      if (!isAskedAlone(targetOf(visit))) return next(visit);
      refuseUnreadable(visit);
      const files = subject.named?.ids.filter((one): one is File => one.rows !== undefined) ?? [];
      if (files.length === 0) return next(visit);
      // As the next step does: but a file of another workspace's is not read either.
      refuseOthers(visit);
      return readAll(visit, files).then(() => next(visit));
    },
  };

  async function readAll(visit: TargetVisit, files: readonly File[]): Promise<void> {
    const late = AbortSignal.timeout(deadlineMs);
    const signal = AbortSignal.any([late, visit.exchange.arrival.signal]);
    for (const file of files) {
      try {
        await read(visit, file, signal);
      } catch (error) {
        throw late.aborted ? tooLong(file) : error;
      }
    }
  }

  async function read(visit: TargetVisit, file: File, signal: AbortSignal): Promise<void> {
    const { exchange } = visit;
    const names = namesInRows(targetOf(visit).entry.id, file.rows);
    if (names.length === 0) return;
    const rows = new PassingRows(names);
    let bytes = 0;
    for await (const piece of await open(visit, file, signal)) {
      if (signal.aborted) throw abortReason(signal);
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge(file);
      const ids = rows.add(piece);
      if (ids.length > 0)
        refuseNamed(visit, { others: await othersInRows(exchange, parts.owners, ids) });
    }
    rows.end();
  }

  async function open(
    visit: TargetVisit,
    { id, field }: File,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Buffer>> {
    const stored = uuidOfStored('file', id);
    if (stored !== undefined)
      return parts.readStored(visit.exchange.key?.source.workspaceId ?? '', stored);
    try {
      const ask = askVendor(callOf(visit), parts);
      return (await openFile(id, placeOf(visit, parts), ask, signal)).pieces();
    } catch (error) {
      if (error instanceof VendorRefusal) throw notReadable(field, error);
      if (error instanceof GatewayError && error.code === 'file.not_found') throw noFile(field);
      throw error;
    }
  }
}

/** Azure reads rows from an address as well, which nobody else does. */
function refuseUnreadable(visit: TargetVisit): void {
  if (visit.exchange.subject.json?.input_blob === undefined) return;
  if (factsOf(visit)?.names?.some(({ rows }) => rows === 'requests') !== true) return;
  throw new GatewayError('request.invalid_field', {
    field: 'body.input_blob',
    message:
      'body.input_blob is read by the provider alone, and its rows may name what other workspaces keep with the credential: upload the file (POST /v1/files), and name it as input_file_id.',
  });
}

function placeOf(visit: TargetVisit, rules: CallRules): ContentPlace {
  const { exchange } = visit;
  const target = targetOf(visit);
  const context = contextOf(exchange, target, {}, rules);
  const addressBy = addressAuthor(target);
  return {
    target,
    rules,
    context,
    nowMs: exchange.arrival.startedAtMs,
    base: checkedBase(target, proxyEntry(target), context, rules.hostRules, addressBy),
    addressBy,
    headers: workHeaders(target),
  };
}

function notReadable(field: string, { status, bytes }: VendorRefusal): GatewayError {
  const said = bytes.toString('utf8', 0, refusalBytesMax);
  const message = `The rows of ${field} have to be read before they are run, and the provider answered ${status}: ${said}`;
  return status < 500
    ? new GatewayError('request.invalid_field', { field, message })
    : new GatewayError('upstream.invalid_response', { message });
}

function noFile(field: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field,
    message: `${field} must be a file of the provider’s, whose rows can be read before they are run.`,
  });
}

function tooLarge({ field }: File): GatewayError {
  return new GatewayError('request.invalid_field', {
    field,
    message: `${field} is a file of more than ${bytesMax} bytes, which is more than is read beside a credential that workspaces may share.`,
  });
}

function tooLong({ field }: File): GatewayError {
  return new GatewayError('upstream.timeout', {
    message: `The rows of ${field} have to be read before they are run, and could not be within ${deadlineMs / 1000} seconds.`,
  });
}
