import { GatewayError } from '@sluice/errors';
import { expectModelCall } from '../exchange/exchange.ts';
import type { Stage } from '../pipeline/pipeline.ts';
import { modelFor } from './read-call-request.ts';

const modelLengthMax = 256;

/** What the handshake says of the session: its model, in the query, or that it is named within. */
export const readSessionRequest: Stage = (exchange, next) => {
  expectModelCall(exchange);
  const { subject } = exchange;
  const query = new URLSearchParams(subject.search);
  const models = query.getAll('model');
  if (models.length > 1) throw invalid('stands more than once');
  const [model = ''] = models;
  if (model.length > modelLengthMax) throw invalid(`is longer than ${modelLengthMax} characters`);
  const { minted } = subject;
  subject.model = minted === undefined ? model : modelFor(minted, model);
  subject.namesModelLater =
    subject.operation.id === 'responseSession' || query.get('intent') === 'transcription';
  if (minted !== undefined && query.has('call_id'))
    throw new GatewayError('auth.invalid_key', {
      message: 'A client secret opens a session of its own; beside a call only a key does.',
    });
  if (minted?.kind === 'transcription') {
    query.set('intent', 'transcription');
    exchange.subject = { ...subject, search: `?${query}` };
  }
  return next();
};

function invalid(what: string): GatewayError {
  return new GatewayError('request.invalid_field', {
    field: 'query.model',
    message: `The parameter model ${what}.`,
  });
}
