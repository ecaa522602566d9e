import type { JsonObject } from '@sluice/contracts';
import { JsonEdit } from '@sluice/json';
import { type Decision, type DenyReason, decide, type Who } from '../access/decide.ts';
import { exposedName, type ServerView } from '../access/server-view.ts';
import type { McpResponse } from '../envelope/read-message.ts';
import { readParamHeaders } from '../headers/param-headers.ts';
import type { PinMemory } from '../pins/pin-of.ts';
import { privateResult } from './cache-hints.ts';
import type { ListKind } from './list-kinds.ts';
import { type ListedItem, readList } from './read-list.ts';
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
  const { items, unusable, nextCursor } = readList(reply, kind, options.pins);
  const edit = new JsonEdit(reply.bytes);
  const hidden: { name: string; reason: DenyReason | 'illegal_headers' }[] = [];
  const drifted: string[] = [];
  for (const index of unusable) edit.set(['result', kind.member, index], undefined);
  for (const item of items) {
    const { index, name, definition, hash } = item;
    const decision = decide(view, who, { type: kind.type, name, arguments: undefined, hash });
    const reason = decision.allowed
      ? isModern && hasIllegalHeaders(kind, definition)
        ? 'illegal_headers'
        : undefined
      : decision.reason;
    if (reason !== undefined) {
      hidden.push({ name, reason });
      edit.set(['result', kind.member, index], undefined);
      continue;
    }
    if (decision.allowed && decision.isDrifted) drifted.push(name);
    showAs(edit, ['result', kind.member, index], view, kind, item, decision);
  }
  if (isModern) privateResult(edit, reply.result, options.ttlMsMax);
  return { bytes: edit.bytes(), items, hidden, drifted, unusable: unusable.length, nextCursor };
}

/** What admins changed of one definition. */
function showAs(
  edit: JsonEdit,
  path: readonly (string | number)[],
  view: ServerView,
  { type, field }: ListKind,
  { name, definition }: ListedItem,
  decision: Decision,
): void {
  // A template that lets a resource pass says nothing of how it is shown.
  const row = decision.allowed && decision.row?.type === type ? decision.row : undefined;
  if (row === undefined) return;
  const exposed = exposedName(view, type, name);
  if (exposed !== undefined && exposed !== name)
    edit.set([...path, field], JSON.stringify(exposed));
  if (row.description !== '' && row.description !== definition.description)
    edit.set([...path, 'description'], JSON.stringify(row.description));
  hideArguments(edit, path, row, definition);
}

function hasIllegalHeaders({ type }: ListKind, { inputSchema }: JsonObject): boolean {
  return type === 'tool' && readParamHeaders(inputSchema).fault !== undefined;
}
