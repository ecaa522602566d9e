import type { JsonObject } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import { type Decision, type DenyReason, decide, type Who } from '../access/decide.ts';
import { exposedName, type ServerView } from '../access/server-view.ts';
import type { McpResponse } from '../envelope/read-message.ts';
import { readParamHeaders } from '../headers/param-headers.ts';
import type { PinMemory } from '../pins/pin-of.ts';
import { privateResult } from './cache-hints.ts';
import type { ListKind } from './list-kinds.ts';
import { type ListedItem, type ReadList, readList } from './read-list.ts';
import { hideArguments } from './shown-schema.ts';

export interface FilterOptions {
  readonly kind: ListKind;
  readonly pins: PinMemory;
  /** Of the caller: a modern one is told how long it may keep the list, and gets no tool whose marks for headers break the rules. */
  readonly isModern: boolean;
  /** How long a modern caller may keep it, ms: as long as a change of rights may take. */
  readonly ttlMsMax: number;
}

export interface FilteredList {
  /** The answer for the caller; the bytes that came where nothing is changed. */
  readonly bytes: Buffer;
  /** All that came and is a definition, whatever the caller may see: for pins. */
  readonly items: readonly ListedItem[];
  readonly hidden: readonly {
    readonly name: string;
    readonly reason: DenyReason | 'illegal_headers';
  }[];
  /** Of those that are shown although they are not what was approved. */
  readonly drifted: readonly string[];
  /** How many were no definitions, and are left out. */
  readonly unusable: number;
  readonly nextCursor: string | undefined;
}

/**
 * What a caller sees of one page of a list. Items keep their bytes but for what admins changed of them; a page may be
 * empty and have a next one.
 * @throws McpFault −32603 where the answer is no list
 */
export function filterList(
  view: ServerView,
  who: Who,
  reply: McpResponse,
  options: FilterOptions,
): FilteredList {
  const { kind, isModern } = options;
  const list = readList(reply, kind, options.pins);
  const hidden: { name: string; reason: DenyReason | 'illegal_headers' }[] = [];
  const drifted: string[] = [];
  const shown: Buffer[] = [];
  let isChanged = list.unusable.length > 0;
  for (const item of list.items) {
    const { name, definition, hash } = item;
    const decision = decide(view, who, { type: kind.type, name, arguments: undefined, hash });
    const reason = decision.allowed
      ? isModern && hasIllegalHeaders(kind, definition)
        ? 'illegal_headers'
        : undefined
      : decision.reason;
    if (reason !== undefined) {
      hidden.push({ name, reason });
      continue;
    }
    if (decision.allowed && decision.isDrifted) drifted.push(name);
    const bytes = shownAs(view, kind, item, decision);
    isChanged ||= bytes !== item.bytes;
    shown.push(bytes);
  }
  isChanged ||= hidden.length > 0;
  const { items, unusable, nextCursor } = list;
  const told = { items, hidden, drifted, unusable: unusable.length, nextCursor };
  const bytes = isChanged ? withList(reply.bytes, list, shown) : reply.bytes;
  return { ...told, bytes: isModern ? privately(bytes, reply, options.ttlMsMax) : bytes };
}

/** The reply with these items in its list, each with the bytes that it has. */
function withList(bytes: Buffer, { start, end }: ReadList, items: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [bytes.subarray(0, start), opening];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(item);
  }
  parts.push(closing, bytes.subarray(end));
  return Buffer.concat(parts);
}

const opening = Buffer.from('[');
const comma = Buffer.from(',');
const closing = Buffer.from(']');

function privately(bytes: Buffer, { result }: McpResponse, ttlMsMax: number): Buffer {
  const edit = new JsonEdit(bytes);
  privateResult(edit, result, ttlMsMax);
  return edit.bytes();
}

/** One definition with what admins changed of it. */
function shownAs(
  view: ServerView,
  { type, field }: ListKind,
  { name, definition, bytes }: ListedItem,
  decision: Decision,
): Buffer {
  // A template that lets a resource pass says nothing of how it is shown.
  const row = decision.allowed && decision.row?.type === type ? decision.row : undefined;
  if (row === undefined) return bytes;
  const edit = new JsonEdit(bytes);
  const exposed = exposedName(view, type, name);
  if (exposed !== undefined && exposed !== name) edit.set([field], JSON.stringify(exposed));
  if (row.description !== '' && row.description !== definition.description)
    edit.set(['description'], JSON.stringify(row.description));
  hideArguments(edit, [], row, definition);
  return edit.bytes();
}

function hasIllegalHeaders({ type }: ListKind, { inputSchema }: JsonObject): boolean {
  return type === 'tool' && readParamHeaders(inputSchema).fault !== undefined;
}
