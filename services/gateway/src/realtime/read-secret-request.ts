import { type OperationId, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type JsonObject, type JsonValue, objectOf } from '@sluice/providers';
import type { SessionKind } from '../exchange/asked-session.ts';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { carriesBody } from '../http/body-stream.ts';
import { parseJsonBody } from '../http/json-body.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { noteSession } from './note-session.ts';
import { readSession, sessionOfBeta } from './session-document.ts';

const kinds: Readonly<Partial<Record<OperationId, SessionKind>>> = {
  [operations.createTranslationSecret.id]: 'translation',
  [operations.createTranscriptionSession.id]: 'transcription',
};

/** Ms from when it is asked for: what a vendor takes, and its own value where nothing is said. */
const life = { shortest: 10, longest: 7200, usual: 600 } as const;

/** What a request for a secret asks for: a session, in today's words or in those of the beta, and for how long. */
export const readSecretRequest: Stage = async (exchange, next) => {
  expectModelCall(exchange);
  const { arrival, subject } = exchange;
  const body = carriesBody(arrival.headers) ? await arrival.readBody() : Buffer.alloc(0);
  const json = body.length === 0 ? {} : parseJsonBody(body);
  const { id } = subject.operation;
  const kind = kinds[id] ?? 'realtime';
  const { session, expires_after, ...beside } = json;
  const isFlat = session === undefined && isOfBeta(exchange);
  const document = isFlat ? sessionOfBeta(beside) : objectAt(session, 'body.session');
  noteSession(exchange, readSession(document, kind), isFlat ? {} : beside);
  subject.secret = { lifeMs: lifeOf(expires_after) * 1000, body: json };
  return next();
};

/** Endpoints whose bodies are sessions, and whose answers are. */
export function isOfBeta({ subject }: ModelExchange): boolean {
  const { id } = subject.operation;
  return (
    id === operations.createRealtimeSession.id || id === operations.createTranscriptionSession.id
  );
}

function objectAt(value: JsonValue | undefined, field: string): JsonObject {
  if (value === undefined || value === null) return {};
  const object = objectOf(value);
  if (object === undefined) throw invalid(field, 'must be an object');
  return object;
}

function lifeOf(value: JsonValue | undefined): number {
  const { anchor, seconds } = objectAt(value, 'body.expires_after');
  if (anchor !== undefined && anchor !== 'created_at')
    throw invalid('body.expires_after.anchor', 'must be created_at');
  if (seconds === undefined || seconds === null) return life.usual;
  const { shortest, longest } = life;
  const isWithin = Number.isInteger(seconds) && Number(seconds) >= shortest;
  if (!isWithin || Number(seconds) > longest)
    throw invalid(
      'body.expires_after.seconds',
      `must be a whole number of seconds from ${shortest} to ${longest}`,
    );
  return Number(seconds);
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}
