import { jsonBounds, readJsonText } from '@sluice/json';
import {
  type McpMessage,
  type McpRequest,
  type MemberView,
  openMemberId,
  type Sealer,
  type SseBlock,
  sealMemberId,
  toCaller,
  writeSseEvent,
} from '@sluice/mcp';
import type { McpCall } from '../mcp-call.ts';
import { HeardReply } from './heard-reply.ts';

/** @param members how many the merged server has */
export function memberView(
  { server }: Pick<McpCall, 'server'>,
  member: string,
  members: number,
  sealer: Sealer,
): MemberView {
  return { sealer, server: server.source.id, member, namesUris: members > 1 };
}

/** The same for the same caller at every gateway. */
export function ownerText({ principal, key }: McpCall): string {
  return `${principal} ${key.source.id}`;
}

/** Where a member's relay answers one request, so that it reaches the caller in the words of the merged server. */
export function passTo(call: McpCall, asked: McpRequest, view: MemberView): HeardReply {
  const { reply } = call;
  const heard: HeardReply = new HeardReply(reply, {
    opened: () => reply.openStream(),
    message(message, event) {
      // Of another request, which may be one of another member's: it is not this one's to answer.
      if (isAnswer(message) && message.id !== asked.id) return true;
      const bytes = toCaller(message, view, asked);
      if (bytes === undefined) return true;
      if (event !== undefined) return reply.write(toldEvent(event, bytes, view, asked.idText));
      reply.body(heard.status, bytes, heard.headers);
      return true;
    },
    blank: (event) => void reply.write(blankEvent(event, view, asked.idText)),
    silent: () => reply.keepAlive(),
    ended() {
      if (heard.isStreaming) reply.endStream();
      else reply.empty(heard.status, heard.headers);
    },
  });
  return heard;
}

export function isAnswer(
  message: McpMessage,
): message is McpMessage & { kind: 'response' | 'error' } {
  return message.kind === 'response' || message.kind === 'error';
}

/** Longer ones are not told: nobody could ask for what follows them. */
const eventIdMax = 1024;

/** An event of a member, under an id that names the member and what the stream is of. @param idText of the request; undefined = it is the session's own */
export function toldEvent(
  { id, name }: SseBlock,
  message: Buffer,
  view: MemberView,
  idText: string | undefined,
): Buffer {
  return writeSseEvent(message, sealedEvent(id, view, idText), name === '' ? undefined : name);
}

export function blankEvent(
  { id, data, retryMs }: SseBlock,
  view: MemberView,
  idText: string | undefined,
): Buffer {
  const sealed = sealedEvent(id, view, idText);
  const lines = [
    ...(sealed === undefined ? [] : [`id: ${sealed}`]),
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
    ...(data === undefined ? [] : ['data: ']),
  ];
  return Buffer.from(lines.length === 0 ? ': \n\n' : `${lines.join('\n')}\n\n`);
}

function sealedEvent(
  id: string | undefined,
  { sealer, server, member }: MemberView,
  idText: string | undefined,
): string | undefined {
  if (id === undefined || id.length > eventIdMax) return undefined;
  const own = JSON.stringify([id, ...(idText === undefined ? [] : [idText])]);
  return sealMemberId(sealer, 'event', server, { member, id: own });
}

export interface ResumedEvent {
  readonly member: string;
  /** As the member gave it. */
  readonly id: string;
  /** Of the request whose stream it was; undefined = it was the session's own. */
  readonly idText: string | undefined;
}

/** Undefined where it is none of this server's. */
export function openEvent(
  { server }: McpCall,
  sealer: Sealer,
  text: string | undefined,
): ResumedEvent | undefined {
  const found =
    text === undefined ? undefined : openMemberId(sealer, 'event', server.source.id, text);
  if (found === undefined) return undefined;
  const [id, idText] = readJsonText(found.id, jsonBounds.small) as [string, string?];
  return { member: found.member, id, idText };
}
