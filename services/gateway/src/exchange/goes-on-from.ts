import { isStoredId } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { type JsonObject, type JsonValue, objectOf } from '@sluice/providers';

/** What a request goes on from, by the ids that it names. */
export interface GoesOn {
  readonly previous: string | undefined;
  readonly conversation: string | undefined;
  /** One of them is kept here, and known to nobody else. */
  readonly isOurs: boolean;
}

/** @throws GatewayError `request.invalid_field` where both are named, and one of them is ours */
export function goesOnFrom(json: JsonObject): GoesOn {
  const previous = idIn(json.previous_response_id);
  const conversation = idIn(json.conversation);
  const isOurs = isKeptHere(previous) || isKeptHere(conversation);
  if (isOurs && previous !== undefined && conversation !== undefined)
    throw new GatewayError('request.invalid_field', {
      field: 'body.conversation',
      message: 'A response goes on from another one or in a conversation, not both.',
    });
  return { previous, conversation, isOurs };
}

/** Whichever of the two: one in the place of the other is nobody else's either. */
function isKeptHere(id = ''): boolean {
  return isStoredId('response', id) || isStoredId('conversation', id);
}

function idIn(value: JsonValue | undefined): string | undefined {
  const id = objectOf(value)?.id ?? value;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
