import { GatewayError } from '@sluice/errors';
import type { JsonObject } from '@sluice/providers';
import type { AskedSession } from '../exchange/asked-session.ts';
import type { ModelExchange } from '../exchange/exchange.ts';

const modelLengthMax = 256;

/**
 * From here on the request is for this session: its model stands where limits, lists of models and routes look for one,
 * and the rest where checks read texts. Its own bytes are not sent on.
 */
export function noteSession(
  exchange: ModelExchange,
  asked: AskedSession,
  /** What else was said: it goes nowhere, but checks see it. */
  beside: JsonObject = {},
): void {
  const { subject, arrival } = exchange;
  const { model, session } = asked;
  if (model.length > modelLengthMax || !model.isWellFormed())
    throw new GatewayError('request.invalid_field', {
      field: 'body.session.model',
      message: `body.session.model must be well-formed text of at most ${modelLengthMax} characters.`,
    });
  subject.asked = asked;
  subject.model = model;
  subject.json = { ...beside, session, ...(model === '' ? {} : { model }) };
  subject.body = Buffer.from(JSON.stringify(subject.json));
  exchange.arrival = {
    ...arrival,
    headers: { ...arrival.headers, 'content-type': 'application/json' },
  };
}
