import { GatewayError } from '@sluice/errors';
import { objectOf } from '@sluice/providers';
import { goesOnFrom } from '../exchange/goes-on-from.ts';
import { jsonObjectIn } from '../http/json-body.ts';

/** One of these stands in a frame that names what is kept here, however it is escaped. */
const hints = ['_svc_', '\\u'];

/**
 * Responses over a WebSocket are their provider's, who cannot know what is kept here.
 * @throws GatewayError `request.invalid_field`
 */
export function refuseKeptIds(frame: Buffer): void {
  if (!hints.some((hint) => frame.includes(hint))) return;
  const event = jsonObjectIn(frame);
  for (const asked of [event, objectOf(event?.response)]) {
    const { previous, isOurs } = goesOnFrom(asked ?? {});
    if (isOurs)
      throw new GatewayError('request.invalid_field', {
        field: previous === undefined ? 'event.conversation' : 'event.previous_response_id',
        message:
          'What the service keeps is gone on from with POST /v1/responses, not over a WebSocket.',
      });
  }
}
