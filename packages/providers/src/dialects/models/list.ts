import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { BodyDialect, CallContext } from '../../contract.ts';
import { arrayOf, numberOf, objectOf, stringOf } from '../../json/json-access.ts';
import { jsonDialect } from '../json-dialect.ts';

/** A model as a vendor lists it, in our words. */
export interface ListedModel {
  id: string;
  /** Unix seconds; 0 where the vendor does not say. */
  created?: number | undefined;
  ownedBy?: string | undefined;
  /** What else is told of it and worth passing on. */
  more?: JsonObject;
}

/** How one vendor's list becomes OpenAI's. */
export interface ModelList {
  /** The field with the models; undefined = the reply itself is the list. */
  items: string | readonly string[] | undefined;
  /** Undefined = this is no model, and is left out. */
  read(item: JsonObject, context: CallContext): ListedModel | undefined;
  /** Fields of the reply that tell how to go on. */
  paging?: readonly string[];
}

export function modelListDialect(list: ModelList): BodyDialect {
  return jsonDialect({
    encode: () => ({ body: undefined, dropped: [] }),
    decode(reply, context) {
      const items = itemsOf(reply, list.items);
      if (items === undefined) return undefined;
      const models = items.flatMap((item) => {
        const object = objectOf(item);
        return object === undefined ? [] : (list.read(object, context) ?? []);
      });
      const paging: JsonObject = {};
      for (const field of list.paging ?? []) {
        const value = objectOf(reply)?.[field];
        if (value !== undefined && value !== null && value !== '') paging[field] = value;
      }
      return { body: { ...encodeModels(models, context), ...paging }, facts: {} };
    },
  });
}

function itemsOf(reply: JsonValue, fields: ModelList['items']): JsonValue[] | undefined {
  if (fields === undefined) return arrayOf(reply);
  const found = [fields].flat().flatMap((field) => {
    const items = arrayOf(objectOf(reply)?.[field]);
    return items === undefined ? [] : [items];
  });
  return found.length === 0 ? undefined : found.flat();
}

/** OpenAI's list. */
export function encodeModels(models: readonly ListedModel[], context: CallContext): JsonObject {
  const { id: provider } = context.provider;
  return {
    object: 'list',
    data: models.map(({ id, created, ownedBy, more }) => ({
      ...more,
      id,
      object: 'model',
      created: created ?? 0,
      owned_by: ownedBy ?? provider,
    })),
    provider,
  };
}

/** Unix seconds of a time as text or number; undefined for what is none. */
export function secondsOf(time: JsonValue | undefined): number | undefined {
  const number = numberOf(time);
  if (number !== undefined) return Math.floor(number);
  // A time without a zone is UTC, as servers write it; here it would be taken for local.
  const ms = Date.parse((stringOf(time) ?? '').replace(/^(\S+) ([\d:.]+)$/, '$1T$2Z'));
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}
