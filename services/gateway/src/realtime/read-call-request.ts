import { operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type FormPart, type JsonObject, objectOf, stringOf } from '@sluice/providers';
import type { AskedSession, MintedSecret, SessionKind } from '../exchange/asked-session.ts';
import { expectModelCall, type ModelExchange } from '../exchange/exchange.ts';
import { parseJsonBody } from '../http/json-body.ts';
import { parseForm } from '../http/multipart.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { noteSession } from './note-session.ts';
import { readSession } from './session-document.ts';

/** Some kB each; a session may have instructions and tools. */
const bodyBytesMax = 1024 * 1024;

/** An offer of WebRTC and the session that it is for: SDP alone, or both in a form or in JSON. */
export const readCallRequest: Stage = async (exchange, next) => {
  expectModelCall(exchange);
  const { arrival, subject } = exchange;
  const body = await arrival.readBody();
  if (body.length > bodyBytesMax)
    throw new GatewayError('request.too_large', {
      message: `The request of a call may have ${bodyBytesMax} bytes.`,
    });
  const type = arrival.headers['content-type'] ?? '';
  const { sdp, session } = readParts(body, type);
  if (!sdp.startsWith('v=')) throw invalid('body.sdp', 'must be an offer in SDP');
  const kind: SessionKind =
    subject.operation.id === operations.createTranslationCall.id ? 'translation' : 'realtime';
  noteSession(exchange, sessionFor(exchange, session, kind));
  subject.sdp = sdp;
  return next();
};

interface Parts {
  readonly sdp: string;
  readonly session: JsonObject | undefined;
}

function readParts(body: Buffer, type: string): Parts {
  if (/^application\/sdp\b/i.test(type) || type === '')
    return { sdp: body.toString(), session: undefined };
  if (/^multipart\/form-data\b/i.test(type)) {
    const parts = parseForm(body, type);
    const text = partOf(parts, 'session');
    return {
      sdp: partOf(parts, 'sdp')?.toString() ?? '',
      session: text === undefined ? undefined : parseJsonBody(text),
    };
  }
  if (/^application\/json\b/i.test(type)) {
    const { sdp, session } = parseJsonBody(body);
    return { sdp: stringOf(sdp) ?? '', session: objectOf(session) };
  }
  throw new GatewayError('request.unsupported_content_type', {
    field: 'content-type',
    message: 'A call takes application/sdp, multipart/form-data or application/json.',
  });
}

/** Of two parts of one name two readers may see different ones. */
function partOf(parts: readonly FormPart[], name: string): Buffer | undefined {
  const found = parts.filter((part) => part.name === name);
  if (found.length > 1)
    throw new GatewayError('request.ambiguous_member', {
      field: `body.${name}`,
      message: `The form has more than one part ${name}.`,
    });
  return found[0]?.data;
}

/** What is asked for itself goes before what a secret was made for, but for the model. */
function sessionFor(
  { subject }: ModelExchange,
  sent: JsonObject | undefined,
  kind: SessionKind,
): AskedSession {
  const { minted, search } = subject;
  const named = new URLSearchParams(search).get('model') ?? '';
  // An offer alone is for a session that has nothing but its model.
  const said = sent ?? (minted === undefined ? {} : undefined);
  const own = said === undefined ? undefined : readSession(said, kind);
  if (own !== undefined && own.model !== '' && named !== '' && own.model !== named)
    throw invalid('query.model', 'is not the model of the session');
  const asked: AskedSession = {
    kind: own?.kind ?? minted?.kind ?? kind,
    model: own?.model || named,
    session: { ...minted?.session, ...own?.session },
  };
  const model = minted === undefined ? asked.model : modelFor(minted, asked.model);
  if (model === '') throw invalid('body.session.model', 'must name the model of the call');
  return { ...asked, model };
}

/** The model that a secret opens. @throws GatewayError where another one is asked for */
export function modelFor({ model, upstreamModel }: MintedSecret, asked: string): string {
  if (model === '') return asked;
  if (asked !== '' && asked !== model && asked !== upstreamModel)
    throw new GatewayError('provider.model_not_allowed', {
      field: 'query.model',
      message: `This client secret is for the model "${upstreamModel}".`,
    });
  return model;
}

function invalid(field: string, what: string): GatewayError {
  return new GatewayError('request.invalid_field', { field, message: `${field} ${what}.` });
}
