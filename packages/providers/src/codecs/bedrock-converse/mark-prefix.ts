import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CachePrefix, CallContext, MemberEdits } from '../../contract.ts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import { stableTurns } from '../stable-turns.ts';
import { cacheRulesOf } from './cache-rules.ts';
import { familyOf, modelBehind } from './models.ts';
import { encodeCachePoint } from './wire.ts';

/** Points behind tools, system and the turns that stay, of models that are known to keep prefixes. */
export function markPrefix(
  body: JsonObject,
  { ttl }: CachePrefix,
  { model: name, modelOverrides }: CallContext,
): MemberEdits | undefined {
  const model = modelBehind(name, modelOverrides);
  const family = familyOf(model);
  const rules = cacheRulesOf(model, family);
  if (family.cachePoints === 'unknown' || rules.marksMax === 0) return undefined;
  const messages = (arrayOf(body.messages) ?? []).map((turn) => objectOf(turn) ?? {});
  const config = objectOf(body.toolConfig);
  const lists = [config?.tools, body.system, ...messages.map(({ content }) => content)];
  if (lists.some(holdsPoint)) return undefined;
  const isLong = ttl === '1h' && rules.anHour;
  const point = encodeCachePoint(isLong ? { type: 'ephemeral', ttl } : { type: 'ephemeral' });
  const edits: Record<string, JsonValue> = {};
  const tools = arrayOf(config?.tools);
  if (tools !== undefined && rules.onTools)
    edits.toolConfig = { ...config, tools: [...tools, point] };
  const system = arrayOf(body.system);
  if (system !== undefined) edits.system = [...system, point];
  const ends = stableTurns(messages.map(({ role }) => role));
  if (ends.length > 0)
    edits.messages = messages.map((turn, index) =>
      ends.includes(index) ? { ...turn, content: [...(arrayOf(turn.content) ?? []), point] } : turn,
    );
  return Object.keys(edits).length === 0 ? undefined : edits;
}

function holdsPoint(list: JsonValue | undefined): boolean {
  return (arrayOf(list) ?? []).some((block) => objectOf(block)?.cachePoint !== undefined);
}
