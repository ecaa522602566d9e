import type { AddressAuthor } from '@sluice/outbound';
import type { AuthRecipe, CallContext, JsonObject, Translation } from '@sluice/providers';
import type { Dispatcher } from 'undici';

/** One HTTP request to a provider as it will be sent, decided before anything is reserved or spent. */
export interface PreparedCall {
  /** Undefined on pass-through of a format we do not know. */
  translation: Translation | undefined;
  origin: string;
  /** Who decided on the origin. */
  addressBy: AddressAuthor;
  path: string;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string | string[]>;
  body: Dispatcher.DispatchOptions['body'];
  /** How the provider learns who asks, beyond the headers above. */
  auth: AuthRecipe;
  /** The JSON as the upstream gets it, for readers that need to know what was asked. */
  sentJson: JsonObject;
  droppedParams: readonly string[];
  context: CallContext;
}

/** A body that flows through can be sent only once. */
export function canResend({ body }: PreparedCall): boolean {
  return body === null || body === undefined || Buffer.isBuffer(body);
}
