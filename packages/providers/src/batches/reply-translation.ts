import type { JsonValue } from '@sluice/contracts';
import { findProvider } from '../catalog.ts';
import type { CallContext, Translation } from '../contract.ts';
import { objectOf } from '../json/json-access.ts';
import { anthropicRows, isClaudeMessage } from './anthropic.ts';
import { openAiRows } from './openai.ts';
import type { RowDialect, RowEndpoint } from './row.ts';
import { rowDialect } from './row-dialects.ts';

/** Hosts of many vendors' models give some of their replies as their vendors do. */
export function translationOfReply(
  reply: JsonValue,
  endpoint: RowEndpoint,
  dialect: RowDialect,
  context: CallContext,
): Translation {
  const object = objectOf(reply);
  if (object?.object === 'chat.completion') return openAiRows.translation('chatComplete', context);
  const isForeign = rowDialect(context.provider.id) !== anthropicRows;
  if (!isForeign || object === undefined || !isClaudeMessage(object))
    return dialect.translation(endpoint, context);
  const anthropic = findProvider('anthropic') ?? context.provider;
  return anthropicRows.translation(endpoint, { ...context, provider: anthropic });
}
