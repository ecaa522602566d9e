/**
 * Claude's own messages through InvokeModel: the format stays, only the model
 * moves into the address and version and betas into the body.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
 */
import type { JsonObject } from '@sluice/contracts';
import { anthropicTypeOfStatus } from '@sluice/errors';
import { modelOperation } from '../../addresses/bedrock.ts';
import { cloudVersion } from '../../codecs/anthropic-messages/api-version.ts';
import { bedrockBetas } from '../../codecs/bedrock-converse/betas.ts';
import { metricsName } from '../../codecs/bedrock-invoke/facts.ts';
import { textOfChunk } from '../../codecs/bedrock-invoke/frames.ts';
import type { CallContext, EndpointEntry } from '../../contract.ts';
import {
  AwsEventStreamUnframer,
  type FrameWriter,
  sseEvent,
} from '../../framing/aws-event-stream.ts';
import { faultOfFrame } from '../../framing/aws-exceptions.ts';
import { empty } from '../../framing/stream-tap.ts';
import { objectOf, parseObject, stringOf } from '../../json/json-access.ts';

const ownVersion = 'bedrock-2023-05-31';

/** A body of messages as InvokeModel takes it. */
export function claudeBody(body: JsonObject, context: CallContext): JsonObject {
  const { model: _model, stream: _stream, anthropic_version, anthropic_beta, ...rest } = body;
  const betas = bedrockBetas(anthropic_beta, context.setting);
  return {
    anthropic_version: cloudVersion(anthropic_version, context, ownVersion),
    ...rest,
    ...(betas.length === 0 ? {} : { anthropic_beta: betas }),
  };
}

/** A chunk holds one event of the model's own; what went wrong is told as the format tells it. */
const writeChunk: FrameWriter = (frame) => {
  const fault = faultOfFrame(frame);
  if (fault !== undefined) {
    const error = { type: anthropicTypeOfStatus(fault.status), message: fault.message };
    return { bytes: sseEvent('error', JSON.stringify({ type: 'error', error })), fault };
  }
  if (frame.name !== 'chunk') return { bytes: empty };
  const text = textOfChunk(frame);
  if (text === undefined) return undefined;
  const event = parseObject(text);
  const type = stringOf(event?.type);
  if (event === undefined || type === undefined) return undefined;
  if (objectOf(event[metricsName]) === undefined) return { bytes: sseEvent(type, text) };
  const { [metricsName]: _metrics, ...own } = event;
  return { bytes: sseEvent(type, JSON.stringify(own)) };
};

export const claudeMessages: EndpointEntry = {
  format: 'anthropic-messages',
  path: modelOperation('invoke', 'invoke-with-response-stream'),
  envelope: {
    wrap: claudeBody,
    keepsBodyHeaders: true,
    translatesErrors: true,
    openUnframer: () => new AwsEventStreamUnframer(writeChunk),
  },
};
