import type { jobs } from '@sluice/proto-stubs';
import type { Logger } from '@sluice/telemetry';
import type { Register } from '../control-plane/register.ts';
import type { EventParts } from '../files/event-parts.ts';
import { pause } from '../pause.ts';
import { errorIn, jsonIn, type ToldError } from '../through-gateway/answers.ts';
import { callLine, type LineCaller, type LineOutcome } from './call-line.ts';
import type { BatchEnd, RunLife } from './run-batch.ts';
import { ToldEvents } from './told-events.ts';

export interface ResponseParts {
  readonly register: Register;
  readonly events: EventParts;
  readonly caller: LineCaller;
  readonly retriesMax: number;
  readonly logger: Logger;
}

interface Fault {
  readonly code: string;
  readonly message: string;
}

const waitMsDefault = 2_000;
const waitMsMax = 60_000;
/** Calls that nobody answered, as when a gateway was killed, before it is given up. */
const unansweredMax = 20;

/**
 * Makes a response in the background: a gateway is asked for it as for a line of a batch, finds what was asked in what it kept, and keeps
 * what was answered. @throws when something that it needs is away
 */
export async function runResponse(
  claim: jobs.Claim,
  parts: ResponseParts,
  life: RunLife,
): Promise<BatchEnd> {
  const { batch, run } = claim;
  if (batch === undefined) throw new Error('a claim has no response');
  const { register } = parts;
  const { id } = batch;
  const end = async (status: Exclude<BatchEnd, 'left'>, faults: readonly Fault[] = []) => {
    const errorsJson = JSON.stringify(faults);
    const { isHeld } = await register.ask(register.jobs.endBatch, { id, run, status, errorsJson });
    return isHeld ? status : 'left';
  };
  if (batch.status === 'cancelling') return end('cancelled');
  const begun = await register.ask(register.jobs.noteChecked, { id, run, total: 1n });
  if (!begun.isHeld) return 'left';
  const { workspaceId } = batch;
  const kept = await register.ask(register.files.openFile, { workspaceId, id, kind: 'response' });
  // An earlier run came to its answer, and not to say so.
  if ((kept.file?.version ?? 0) > 1) return end('completed');
  const dataKey = Buffer.from(kept.dataKey);
  // Whoever listened to an earlier run would hear another answer's end.
  if ((await parts.events.get(id, dataKey, 0)) !== undefined) return end('failed', [interrupted]);
  const told = new ToldEvents(parts.events, { id, dataKey }, parts.logger);
  const outcome = await ask(claim, parts, life, told);
  await told.end();
  if (life.cancelled.aborted) return end('cancelled');
  if (outcome === 'left' || life.lost.aborted) return 'left';
  if (outcome === 'expired') return end('expired', [expired]);
  if (outcome !== 'answered') return end('failed', [outcome]);
  // A stream that broke off was an answer until then.
  const { fault } = told;
  return fault === undefined ? end('completed') : end('failed', [faultFrom(fault)]);
}

const interrupted = {
  code: 'server_error',
  message: 'The response was interrupted after some of it was told, and is not made again.',
};
const expired = { code: 'server_error', message: 'The response was not made in time.' };

async function ask(
  { batch, headersJson }: jobs.Claim,
  { caller, retriesMax }: ResponseParts,
  life: RunLife,
  told: ToldEvents,
): Promise<'answered' | 'left' | 'expired' | Fault> {
  const { id, endpoint, expiresAtMs } = batch as jobs.Batch;
  const cut = AbortSignal.any([life.lost, life.cut, life.cancelled]);
  const begins = AbortSignal.any([cut, life.leave]);
  const headers = JSON.parse(headersJson) as Record<string, string>;
  let retries = 0;
  let unanswered = 0;
  while (!begins.aborted) {
    if (Date.now() >= Number(expiresAtMs)) return 'expired';
    if (!life.mayBegin()) {
      await pause(250, begins);
      continue;
    }
    const outcome = await callLine(
      caller,
      {
        batchId: id,
        endpoint,
        customId: lineName,
        body,
        token: life.token(),
        headers,
        isResponse: true,
      },
      cut,
      (piece) => told.add(piece),
    );
    if (cut.aborted) return 'left';
    if (outcome.kind === 'answer') return answered(outcome);
    if (outcome.kind === 'ended') return { code: 'server_error', message: outcome.message };
    await told.end();
    if (told.hasTold) return interrupted;
    if (outcome.kind === 'away') {
      if (!outcome.willKnow) unanswered += 1;
      if (unanswered > unansweredMax) return { code: 'server_error', message: outcome.message };
    } else if (outcome.kind === 'again' || !outcome.isOwnLimit) {
      retries += 1;
      if (retries > retriesMax) return faultIn(outcome.answer.body);
    }
    const usual = waitMsDefault * 2 ** Math.min(4, retries + unanswered);
    const asked = outcome.kind === 'wait' ? outcome.afterMs : undefined;
    await pause(Math.min(waitMsMax, Math.max(100, asked ?? usual / 4)), begins);
  }
  return 'left';
}

/** The only line of it. */
const lineName = 'response';
/** What is asked is in what the gateway kept. */
const body = Buffer.from('{}');

function answered({ status, body: text }: Extract<LineOutcome, { kind: 'answer' }>) {
  return status < 400 ? ('answered' as const) : faultIn(text);
}

function faultIn(text: string): Fault {
  return faultFrom(errorIn(jsonIn(Buffer.from(text))));
}

function faultFrom({ code, message }: ToldError): Fault {
  return {
    code: code === '' ? 'server_error' : code,
    message: message === '' ? 'The provider did not answer.' : message,
  };
}
