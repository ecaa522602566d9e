import type { Endpoint, JsonObject } from '@sluice/contracts';
import {
  type CallContext,
  findProvider,
  findTranslation,
  type ReplyFacts,
} from '@sluice/providers';

/** A reply as a vendor sends it. */
export interface VendorReply {
  provider: string;
  endpoint?: Endpoint;
  model: string;
  request?: JsonObject;
  /** Whole, or the data of a stream's events. */
  reply: JsonObject | readonly JsonObject[];
}

/** What is read of a reply. */
export function readFacts({
  provider: id,
  endpoint = 'chatComplete',
  model,
  request = {},
  reply,
}: VendorReply): ReplyFacts {
  const provider = findProvider(id)!;
  const isStream = Array.isArray(reply);
  const setting = () => undefined;
  const translation = findTranslation(provider, endpoint, { model, stream: isStream, setting });
  const context: CallContext = {
    provider,
    model,
    stream: isStream,
    setting,
    request: { model, ...request },
    strictOpenAiCompliance: true,
    nowMs: 0,
  };
  if (!isStream) {
    const head = { status: 200, headers: { 'content-type': 'application/json' } };
    return translation.decode(Buffer.from(JSON.stringify(reply)), context, head).facts;
  }
  const reader = translation.openStream(context, context.request);
  for (const event of reply) {
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : '';
    reader.push(Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`));
  }
  reader.end();
  return reader.facts;
}
