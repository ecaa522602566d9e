import type { JsonObject, JsonValue } from '@sluice/contracts';
import { locationPath, publisherPath, vertexModel } from '../../addresses/vertex-ai.ts';
import { cloudVersion } from '../../codecs/anthropic-messages/api-version.ts';
import type { CallContext, EndpointEntry, Envelope } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';

/**
 * Claude on Vertex AI: Anthropic's format without the model, which the address
 * names, and with a version of its own. Further events of the stream
 * (`vertex_event`) are no concern of the format's readers.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude
 */
const ownVersion = 'vertex-2023-10-16';

const messagesEnvelope: Envelope = {
  wrap(body, context) {
    const { model, ...rest } = body;
    return { ...plainCacheMarks(rest), anthropic_version: versionIn(context) };
  },
};

const countEnvelope: Envelope = {
  wrap: (body, context) => ({
    ...plainCacheMarks(body),
    model: vertexModel(context.model).name,
    anthropic_version: versionIn(context),
  }),
};

/** The body's has become a header by then, as Anthropic takes it. */
function versionIn(context: CallContext): string {
  return cloudVersion(context.request.anthropic_version, context, ownVersion);
}

export const claudeMessages: EndpointEntry = {
  format: 'anthropic-messages',
  path: (facts) => publisherPath(facts, facts.stream ? 'streamRawPredict' : 'rawPredict'),
  envelope: messagesEnvelope,
};

export const claudeCountTokens: EndpointEntry = {
  format: 'anthropic-count-tokens',
  path: (facts) => `${locationPath(facts)}/publishers/anthropic/models/count-tokens:rawPredict`,
  envelope: countEnvelope,
};

/** Cache marks carry a type and a lifetime here; other fields of theirs are refused. */
function plainCacheMarks(body: JsonObject): JsonObject {
  const result = { ...body };
  for (const key of ['system', 'tools', 'messages'] as const) {
    const list = arrayOf(body[key]);
    if (list !== undefined) result[key] = list.map(plainMark);
  }
  if (body.cache_control !== undefined) result.cache_control = plainControl(body.cache_control);
  return result;
}

function plainMark(value: JsonValue): JsonValue {
  const block = objectOf(value);
  if (block === undefined) return value;
  const content = arrayOf(block.content);
  if (content === undefined && block.cache_control === undefined) return value;
  const result = { ...block };
  if (content !== undefined) result.content = content.map(plainMark);
  if (block.cache_control !== undefined) result.cache_control = plainControl(block.cache_control);
  return result;
}

function plainControl(value: JsonValue): JsonValue {
  const control = objectOf(value);
  if (control === undefined) return value;
  const ttl = stringOf(control.ttl);
  return { type: control.type ?? 'ephemeral', ...(ttl === undefined ? {} : { ttl }) };
}
