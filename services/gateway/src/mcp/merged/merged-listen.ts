import type { JsonObject } from '@sluice/contracts';
import {
  isObject,
  type McpMessage,
  type McpRequest,
  type MemberView,
  MessageEdit,
  metaKeys,
  openShownUri,
  readMessage,
  toCaller,
  writeSseEvent,
} from '@sluice/mcp';
import { keepOpen } from '../keep-open.ts';
import type { McpCall } from '../mcp-call.ts';
import { listener } from '../modern-relay.ts';
import type { OpenMcpStreams } from '../open-mcp-streams.ts';
import type { AskMember, Gatherer } from './gather.ts';
import { HeardReply } from './heard-reply.ts';
import { type Member, stateOf } from './members.ts';
import { HeldStream } from './merged-stream.ts';
import { isAnswer } from './pass-to.ts';

export interface ListenDeps {
  readonly streams: OpenMcpStreams;
  readonly gatherer: Gatherer;
  readonly view: (member: Member) => MemberView;
  readonly ask: AskMember;
  /** @throws McpFault where the merged server's own rules deny it */
  readonly admit: (asked: McpRequest) => void;
}

const acknowledged = 'notifications/subscriptions/acknowledged';
const subscriptionsMax = 100;

/** A subscription at all members, as one: acknowledged once, under the caller's own id. */
export async function listenToAll(
  call: McpCall,
  asked: McpRequest,
  members: readonly Member[],
  deps: ListenDeps,
): Promise<void> {
  const filter = isObject(asked.params?.notifications) ? asked.params.notifications : {};
  const wanted = urisOf(filter, members, deps);
  const over = new AbortController();
  const held = new HeldStream(call.reply);
  const honoured: string[] = [];
  await deps.gatherer.all(call, members, (member) => {
    const uris = wanted.get(member.slug) ?? [];
    const sent = sentTo(
      asked,
      filter,
      uris.map(({ uri }) => uri),
    );
    return new Promise<void>((resolve, reject) => {
      const acknowledge = (told: readonly string[]) => {
        const shown = uris.filter(({ uri }) => told.includes(uri)).map(({ shown }) => shown);
        honoured.push(...shown);
        resolve();
      };
      const hear = hearing(member, uris, held, deps, acknowledge);
      void keepOpen(AbortSignal.any([over.signal, call.signal]), async () => {
        try {
          await deps.ask(member, sent, new HeardReply(call.reply, { message: hear }));
        } catch (error) {
          reject(error);
          throw error;
        }
        // It said nothing, and has ended.
        resolve();
      });
    });
  });
  const lists = Object.entries(filter).filter(
    ([name, value]) => listNames.has(name) && value === true,
  );
  const notifications: JsonObject = {
    ...Object.fromEntries(lists),
    ...(filter.resourceSubscriptions === undefined ? {} : { resourceSubscriptions: honoured }),
  };
  const _meta = { [metaKeys.subscriptionId]: asked.id };
  const params = { notifications, _meta };
  held.open(Buffer.from(JSON.stringify({ jsonrpc: '2.0', method: acknowledged, params })));
  const ended = deps.streams.open(call, { ...listener(asked), stateOf });
  await new Promise<void>((resolve) => {
    if (call.signal.aborted) resolve();
    else call.reply.onClose(resolve);
  });
  over.abort();
  ended();
}

const listNames: ReadonlySet<string> = new Set([
  'toolsListChanged',
  'promptsListChanged',
  'resourcesListChanged',
]);

interface WantedUri {
  /** As the caller knows it. */
  readonly shown: string;
  /** As the member does. */
  readonly uri: string;
}

function urisOf(
  { resourceSubscriptions }: JsonObject,
  members: readonly Member[],
  { view, admit }: ListenDeps,
): Map<string, WantedUri[]> {
  const wanted = new Map<string, WantedUri[]>();
  const listed = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  for (const shown of listed.slice(0, subscriptionsMax)) {
    if (typeof shown !== 'string') continue;
    const named = openShownUri(shown);
    const [only] = members;
    const owner = members.find(({ slug }) => slug === named?.member);
    const isOnly = owner === undefined && only !== undefined && !view(only).namesUris;
    const member = owner ?? (isOnly ? only : undefined);
    if (member === undefined || !isAdmitted(shown, admit)) continue;
    const uri = owner === undefined ? shown : (named?.uri as string);
    wanted.set(member.slug, [...(wanted.get(member.slug) ?? []), { shown, uri }]);
  }
  return wanted;
}

function isAdmitted(uri: string, admit: ListenDeps['admit']): boolean {
  const asked = { jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri } };
  try {
    admit(readMessage(Buffer.from(JSON.stringify(asked))) as McpRequest);
    return true;
  } catch {
    // What may not be read is not honoured, and the acknowledgement says so.
    return false;
  }
}

function sentTo(asked: McpRequest, filter: JsonObject, uris: readonly string[]): McpRequest {
  const { resourceSubscriptions: _all, ...lists } = filter;
  const notifications = {
    ...lists,
    ...(uris.length === 0 ? {} : { resourceSubscriptions: [...uris] }),
  };
  const edit = new MessageEdit(asked).setParam('notifications', notifications);
  return readMessage(edit.bytes()) as McpRequest;
}

/** Passes on what a member tells; its acknowledgement is part of ours, and its end is not ours. */
function hearing(
  member: Member,
  uris: readonly WantedUri[],
  held: HeldStream,
  { view }: ListenDeps,
  acknowledge: (uris: readonly string[]) => void,
): (message: McpMessage) => boolean {
  const shownAs = new Map(uris.map(({ shown, uri }) => [uri, shown]));
  return (message) => {
    if (isAnswer(message)) return true;
    if (message.kind === 'notification' && message.method === acknowledged) {
      const { notifications } = message.params ?? {};
      const told = isObject(notifications) ? notifications.resourceSubscriptions : undefined;
      acknowledge(Array.isArray(told) ? told.filter((uri) => typeof uri === 'string') : []);
      return true;
    }
    const isUpdate =
      message.kind === 'notification' && message.method === 'notifications/resources/updated';
    const shown = isUpdate ? shownAs.get(String(message.params?.uri)) : undefined;
    const bytes =
      shown === undefined
        ? toCaller(message, view(member), undefined)
        : new MessageEdit(message).setParam('uri', shown).bytes();
    return bytes === undefined || held.write(writeSseEvent(bytes));
  };
}
