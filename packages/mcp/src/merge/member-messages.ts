import type { JsonObject, JsonValue } from '@sluice/contracts';
import { jsonBounds, readJsonText } from '@sluice/json';
import { MessageEdit } from '../envelope/edit-message.ts';
import { metaKeys } from '../envelope/protocol.ts';
import {
  isObject,
  type McpMessage,
  type McpNotification,
  type McpRequest,
  type RpcId,
} from '../envelope/read-message.ts';
import type { Sealer } from '../sealing/sealer.ts';
import { memberUri, mergedUri, openMemberId, sealMemberId } from './member-ids.ts';

/** One member, as callers of a merged server are to know what it names. */
export interface MemberView {
  readonly sealer: Sealer;
  /** Id of the merged server. */
  readonly server: string;
  /** Slug of the member. */
  readonly member: string;
  /** Whether URIs name it: of an only member they are as they are. */
  readonly namesUris: boolean;
}

/** Of the caller's request that a message belongs to. */
export interface AskedOf {
  readonly method: string;
  readonly progressToken: RpcId | undefined;
}

/**
 * A member's message as its caller is told it: ids of its requests, tokens of their progress, URIs and tasks name the
 * member, whatever it wrote into them. Undefined = it is not told: progress of what this member was not asked.
 * @param asked what it belongs to; undefined = the member says it by itself
 */
export function toCaller(
  message: McpMessage,
  view: MemberView,
  asked: AskedOf | undefined,
): Buffer | undefined {
  const edit = new MessageEdit(message);
  switch (message.kind) {
    case 'request': {
      const id = memberRequestId(view.member, message.id);
      if (id === undefined) return undefined;
      edit.setId(JSON.stringify(id));
      const token = message.progressToken;
      if (token !== undefined)
        edit.setMeta('progressToken', memberRequestId(view.member, token) ?? undefined);
      nameTask(edit, view, ['params', '_meta'], message.meta);
      return edit.bytes();
    }
    case 'notification':
      return tellsCaller(edit, message, view, asked) ? edit.bytes() : undefined;
    case 'response':
      nameResult(edit, message.result, view);
      return edit.bytes();
    default:
      return message.bytes;
  }
}

function tellsCaller(
  edit: MessageEdit,
  { method, params, meta }: McpNotification,
  view: MemberView,
  asked: AskedOf | undefined,
): boolean {
  nameTask(edit, view, ['params', '_meta'], meta);
  switch (method) {
    case 'notifications/progress':
      return asked?.progressToken !== undefined && params?.progressToken === asked.progressToken;
    case 'notifications/cancelled': {
      const id = params?.requestId;
      if (typeof id !== 'string' && typeof id !== 'number') return false;
      edit.setParam('requestId', memberRequestId(view.member, id));
      return true;
    }
    case 'notifications/message': {
      const { logger } = params ?? {};
      const name = typeof logger === 'string' && logger !== '' ? `/${logger}` : '';
      edit.setParam('logger', `${view.member}${name}`);
      return true;
    }
    case 'notifications/resources/updated': {
      const uri = params?.uri;
      if (typeof uri === 'string' && view.namesUris)
        edit.setParam('uri', shownUri(view.member, uri));
      return true;
    }
    default:
      if (method.startsWith('notifications/tasks')) {
        const taskId = params?.taskId;
        if (typeof taskId !== 'string') return false;
        edit.setParam('taskId', taskOf(view, taskId));
      }
      return true;
  }
}

type Path = readonly (string | number)[];

/** What of a result names something of the member. */
function nameResult(edit: MessageEdit, result: JsonObject, view: MemberView): void {
  nameTask(edit, view, ['result', '_meta'], result._meta);
  const taskAt = (path: Path, holder: JsonValue | undefined) => {
    if (isObject(holder) && typeof holder.taskId === 'string')
      edit.setAt([...path, 'taskId'], JSON.stringify(taskOf(view, holder.taskId)));
  };
  taskAt(['result'], result);
  taskAt(['result', 'task'], result.task);
  each(result.tasks, (task, at) => taskAt(['result', 'tasks', at], task));
  if (!view.namesUris) return;
  const uriAt = (path: Path, holder: JsonValue | undefined) => {
    if (isObject(holder) && typeof holder.uri === 'string')
      edit.setAt([...path, 'uri'], JSON.stringify(shownUri(view.member, holder.uri)));
  };
  const block = (path: Path, content: JsonValue | undefined) => {
    if (!isObject(content)) return;
    if (content.type === 'resource_link') uriAt(path, content);
    if (content.type === 'resource') uriAt([...path, 'resource'], content.resource);
  };
  each(result.content, (content, at) => block(['result', 'content', at], content));
  each(result.contents, (content, at) => uriAt(['result', 'contents', at], content));
  each(result.messages, (message, at) => {
    if (isObject(message)) block(['result', 'messages', at, 'content'], message.content);
  });
}

function each(list: JsonValue | undefined, visit: (item: JsonValue, at: number) => void): void {
  if (Array.isArray(list)) for (const [at, item] of list.entries()) visit(item, at);
}

function nameTask(
  edit: MessageEdit,
  view: MemberView,
  metaPath: Path,
  meta: JsonValue | undefined,
): void {
  const task = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  if (!isObject(task) || typeof task.taskId !== 'string') return;
  const path = [...metaPath, metaKeys.relatedTask, 'taskId'];
  edit.setAt(path, JSON.stringify(taskOf(view, task.taskId)));
}

function taskOf({ sealer, server, member }: MemberView, id: string): string {
  return sealMemberId(sealer, 'task', server, { member, id });
}

/**
 * What a caller says to a member, in the member's own words: its answers, and what it tells.
 * @param id of the member's own request, where this is the answer to it
 */
export function toMember(message: McpMessage, view: MemberView, id: RpcId | undefined): Buffer {
  const edit = new MessageEdit(message);
  if (message.kind === 'response' || message.kind === 'error') {
    if (id !== undefined) edit.setId(JSON.stringify(id));
    if (message.kind === 'response') ownTask(edit, view, ['result', '_meta'], message.meta);
    return edit.bytes();
  }
  ownTask(edit, view, ['params', '_meta'], message.meta);
  if (message.method === 'notifications/progress' && id !== undefined)
    edit.setParam('progressToken', id);
  return edit.bytes();
}

/** A related task of the member, by its own id. Of another member's nothing is said. */
function ownTask(edit: MessageEdit, view: MemberView, path: Path, meta: JsonValue | undefined) {
  const task = isObject(meta) ? meta[metaKeys.relatedTask] : undefined;
  if (!isObject(task) || typeof task.taskId !== 'string') return;
  const own = openMemberId(view.sealer, 'task', view.server, task.taskId);
  const id = own?.member === view.member ? JSON.stringify(own.id) : undefined;
  edit.setAt([...path, metaKeys.relatedTask, ...(id === undefined ? [] : ['taskId'])], id);
}

/** A request as its member is asked it. @param subject what it is about, as the member knows it; undefined = nothing of it */
export function askedOfMember(
  asked: McpRequest,
  view: MemberView,
  subject: string | undefined,
): Buffer {
  const edit = new MessageEdit(asked);
  if (subject !== undefined && asked.subject !== subject) edit.setSubject(subject);
  ownTask(edit, view, ['params', '_meta'], asked.meta);
  return edit.bytes();
}

const idLengthMax = 1024;

/** The id, or token, of a member's own request as callers see it; undefined = it is too long to be told. */
export function memberRequestId(member: string, id: RpcId): string | undefined {
  const text = `${member}:${JSON.stringify(id)}`;
  return text.length > idLengthMax ? undefined : text;
}

/** Whose request an id names; undefined = it is none of these. */
export function openRequestId(
  id: JsonValue | undefined,
): { readonly member: string; readonly id: RpcId } | undefined {
  if (typeof id !== 'string') return undefined;
  const [, member, text] = /^([^:]+):(.+)$/s.exec(id) ?? [];
  if (member === undefined || text === undefined) return undefined;
  try {
    const own = readJsonText(text, jsonBounds.small);
    const isId = typeof own === 'string' || Number.isSafeInteger(own);
    return isId && memberRequestId(member, own as RpcId) === id
      ? { member, id: own as RpcId }
      : undefined;
  } catch {
    return undefined;
  }
}

const uiScheme = 'ui://';
const uiHost = 'mcp-member';

/** As `mergedUri`, but of `ui://` the scheme stays: hosts know a page by it. */
export function shownUri(member: string, uri: string): string {
  return uri.startsWith(uiScheme)
    ? `${uiScheme}${uiHost}/${encodeURIComponent(member)}/${uri.slice(uiScheme.length)}`
    : mergedUri(member, uri);
}

/** Undefined where it names no member. */
export function openShownUri(
  shown: string,
): { readonly member: string; readonly uri: string } | undefined {
  const prefix = `${uiScheme}${uiHost}/`;
  if (!shown.startsWith(prefix)) return memberUri(shown);
  const found = memberUri(`mcp-member://${shown.slice(prefix.length)}`);
  return found === undefined ? undefined : { ...found, uri: `${uiScheme}${found.uri}` };
}
