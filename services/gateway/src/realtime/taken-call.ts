import { Readable } from 'node:stream';
import { operations } from '@sluice/contracts';
import { fromUnknown, GatewayError } from '@sluice/errors';
import type { Sealer } from '@sluice/mcp';
import type { JsonObject } from '@sluice/providers';
import { uuidText } from '@sluice/usage';
import { type ArrivedRequest, uncountedBytes } from '../exchange/arrived-request.ts';
import { type Exchange, type ModelExchange, openExchange } from '../exchange/exchange.ts';
import { discard, type Reply } from '../exchange/reply.ts';
import { modelCall } from '../exchange/subject.ts';
import type { ConfigStore } from '../held/config-store.ts';
import { readCallerHeaders } from '../http/caller-headers.ts';
import type { TokenKeys } from '../jwt-keys/token-keys.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { admit, keyOfCaller } from '../pipeline/stages/authenticate.ts';
import { uuidV7 } from '../usage/uuid.ts';
import type { CallHandover } from './call-handover.ts';
import type { TakenCall } from './call-register.ts';
import { type NotedCall, openNote } from './noted-call.ts';

type Noted = TakenCall & NotedCall;

const noted = new WeakMap<Exchange, Noted>();

/** The call that a request of ours is about. */
export function takenOf(exchange: Exchange): Noted {
  const call = noted.get(exchange);
  if (call === undefined) throw new Error('it is about no call');
  return call;
}

/** Who placed the call asks to hear it. */
export function enterTaken(
  store: Pick<ConfigStore, 'heldKey' | 'findKey' | 'keyOfHash' | 'bundle'>,
  tokens: TokenKeys | undefined,
): Stage {
  return async (exchange, next) => {
    const { by } = takenOf(exchange);
    const key =
      'token' in by
        ? await keyOfCaller(exchange, store, tokens)
        : await store.keyOfHash(by.keyHash);
    if (key === undefined) throw new GatewayError('auth.invalid_key');
    await admit(exchange, key, store);
    return next();
  };
}

export interface TakeOverParts {
  readonly handover: CallHandover;
  readonly sealer: Sealer;
  readonly run: (exchange: Exchange) => Promise<Reply>;
  readonly warn: (error: GatewayError, callId: string) => void;
}

/** Lets a gateway take over calls that others heard: each is a request to hear it, as who placed it. */
export function takesCallsOver({ handover, sealer, run, warn }: TakeOverParts): void {
  handover.adopt = async (taken) => {
    const note = openNote(sealer, taken.sealed);
    if (note === undefined) {
      warn(new GatewayError('auth.invalid_key'), taken.name);
      return false;
    }
    const exchange = openTaken(note);
    noted.set(exchange, { ...taken, ...note });
    try {
      discard(await run(exchange));
      return true;
    } catch (caught) {
      const error = fromUnknown(caught);
      // Who is away now may be asked again.
      if (error.status >= 500) throw error;
      warn(error, note.callId);
      return false;
    }
  };
}

function openTaken(note: NotedCall): ModelExchange {
  const { by, model, callId, transcriptionModel } = note;
  const headers = {
    ...note.headers,
    ...('token' in by ? { 'x-service-api-key': by.token } : {}),
  };
  const { realtime } = operations;
  const search = `?call_id=${encodeURIComponent(callId)}`;
  const startedAtMs = Date.now();
  const requestId = uuidV7(startedAtMs);
  const requestIdText = uuidText(requestId);
  const caller = { ...readCallerHeaders(headers), upstreamKey: undefined };
  const arrival: ArrivedRequest = {
    method: 'GET',
    pathname: '/v1/realtime',
    search,
    headers,
    caller,
    requestId,
    requestIdText,
    traceId: caller.traceId ?? requestIdText,
    startedAt: performance.now(),
    startedAtMs,
    signal: new AbortController().signal,
    callerAddress: () => note.address,
    readBody: async () => Buffer.alloc(0),
    holdBytes: () => true,
    holdApart: () => uncountedBytes,
    bodyStream: () => Readable.from([]),
  };
  const subject = modelCall(realtime, arrival.pathname, search);
  subject.model = model;
  const transcription: JsonObject =
    transcriptionModel === undefined ? {} : { model: transcriptionModel };
  subject.asked = { kind: note.of, model, session: { audio: { input: { transcription } } } };
  return openExchange(arrival, subject);
}
