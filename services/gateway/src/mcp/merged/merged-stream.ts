import { setTimeout as delay } from 'node:timers/promises';
import {
  idKey,
  McpFault,
  type McpMessage,
  type MemberView,
  type RpcId,
  type Sealer,
  type SseBlock,
  toCaller,
  writeSseEvent,
} from '@sluice/mcp';
import type { RecentMap } from '../../chain/recent-map.ts';
import type { CallReply } from '../caller-reply.ts';
import { keepOpen } from '../keep-open.ts';
import { legacyListener } from '../legacy-relay.ts';
import type { McpCall } from '../mcp-call.ts';
import type { OpenMcpStreams } from '../open-mcp-streams.ts';
import type { ServedServer } from '../served-server.ts';
import type { Session } from '../session.ts';
import { HeardReply } from './heard-reply.ts';
import { type Member, stateOf } from './members.ts';
import type { MergedSessions } from './merged-sessions.ts';
import { blankEvent, isAnswer, openEvent, type ResumedEvent, toldEvent } from './pass-to.ts';

/** Calls that go on, by session and `idKey`. */
export type RunningCalls = RecentMap<
  Map<string, { readonly slug: string; readonly progressToken: RpcId | undefined }>
>;

export interface StreamDeps {
  readonly single: ServedServer;
  readonly sessions: MergedSessions;
  readonly streams: OpenMcpStreams;
  readonly sealer: Sealer;
  readonly running: RunningCalls;
  readonly view: (member: Member) => MemberView;
  /** The call as a member is asked it. */
  readonly calling: (member: Member, reply: CallReply) => Promise<McpCall>;
}

/** Whoever has a stream open already says so at once. */
const firstMs = 300;

/** What members say by themselves, on one stream, until the caller leaves. One that ends is opened again. */
export async function streamOfAll(
  call: McpCall,
  session: Session,
  lastEventId: string | undefined,
  members: readonly Member[],
  deps: StreamDeps,
): Promise<void> {
  const resumed = openEvent(call, deps.sealer, lastEventId);
  if (resumed?.idText !== undefined) return resume(call, session, resumed, members, deps);
  const over = new AbortController();
  const held = new HeldStream(call.reply);
  const firsts = members.map(
    (member) =>
      new Promise<unknown>((settle) => {
        const from = resumed?.member === member.slug ? resumed.id : undefined;
        void attach(call, session, member, from, { deps, over: over.signal, held, settle });
      }),
  );
  const outcomes = await Promise.race([Promise.all(firsts), delay(firstMs, [])]);
  const taken = outcomes.find((each) => each instanceof McpFault && each.status === 409);
  if (taken !== undefined) {
    over.abort();
    throw taken;
  }
  held.open();
  const ended = deps.streams.open(call, { ...legacyListener, stateOf });
  await new Promise<void>((resolve) => {
    if (call.signal.aborted) resolve();
    else call.reply.onClose(resolve);
  });
  over.abort();
  ended();
}

interface Attaching {
  readonly deps: StreamDeps;
  readonly over: AbortSignal;
  readonly held: HeldStream;
  /** Once, with what became of the first try: undefined = it is open. */
  readonly settle: (outcome: unknown) => void;
}

async function attach(
  call: McpCall,
  session: Session,
  member: Member,
  from: string | undefined,
  { deps, over, held, settle }: Attaching,
): Promise<void> {
  const view = deps.view(member);
  let last = from;
  const listen = (message: McpMessage, event: SseBlock | undefined): boolean => {
    if (event === undefined || isAnswer(message)) return true;
    last = event.id ?? last;
    const bytes = toCaller(message, view, runningAt(session, member, message, deps));
    return bytes === undefined || held.write(toldEvent(event, bytes, view, undefined));
  };
  await keepOpen(over, async () => {
    try {
      const reply = new HeardReply(call.reply, {
        opened: () => settle(undefined),
        message: listen,
        blank: (event) => {
          last = event.id ?? last;
          if (event.id !== undefined) held.write(blankEvent(event, view, undefined));
        },
      });
      const asking = await deps.calling(member, reply);
      const signal = AbortSignal.any([call.signal, over]);
      const own = await deps.sessions.of(call, session, asking);
      await deps.single.stream({ ...asking, signal }, own, last);
    } catch (error) {
      settle(error);
      throw error;
    }
  });
}

/** Progress that is told here belongs to a call that goes on at this very member, or is not told. */
function runningAt(session: Session, { slug }: Member, message: McpMessage, deps: StreamDeps) {
  if (message.kind !== 'notification' || message.method !== 'notifications/progress')
    return undefined;
  const token = message.params?.progressToken;
  if (typeof token !== 'string' && typeof token !== 'number') return undefined;
  for (const running of deps.running.peek(session.name)?.values() ?? []) {
    const { progressToken } = running;
    const isIts = progressToken !== undefined && idKey(progressToken) === idKey(token);
    if (running.slug === slug && isIts) return { method: '', progressToken };
  }
  return undefined;
}

/** The rest of the stream of one request. Nothing but its own answer ends it. */
async function resume(
  call: McpCall,
  session: Session,
  { member: slug, id, idText = '' }: ResumedEvent,
  members: readonly Member[],
  deps: StreamDeps,
): Promise<void> {
  const member = members.find((each) => each.slug === slug);
  if (member === undefined)
    throw new McpFault({ status: 404, code: -32001, message: 'Session not found' });
  const view = deps.view(member);
  const { reply } = call;
  const heard = new HeardReply(reply, {
    opened: () => reply.openStream(),
    message(message, event) {
      if (event === undefined || (isAnswer(message) && message.idText !== idText)) return true;
      const progress = message.kind === 'notification' ? message.params?.progressToken : undefined;
      const isToken = typeof progress === 'string' || typeof progress === 'number';
      const asked = { method: '', progressToken: isToken ? progress : undefined };
      const bytes = toCaller(message, view, asked);
      return bytes === undefined || reply.write(toldEvent(event, bytes, view, idText));
    },
    blank: (event) => void reply.write(blankEvent(event, view, idText)),
    ended: () => reply.endStream(),
  });
  const asking = await deps.calling(member, heard);
  const own = await deps.sessions.of(call, session, asking);
  return deps.single.stream(asking, own, id);
}

const heldMax = 1_000;

/** What is told before a stream is open waits for it. */
export class HeldStream {
  readonly #reply: CallReply;
  #waiting: Buffer[] | undefined = [];

  constructor(reply: CallReply) {
    this.#reply = reply;
  }

  open(first?: Buffer): void {
    this.#reply.openStream();
    if (first !== undefined) this.#reply.write(writeSseEvent(first));
    for (const event of this.#waiting ?? []) this.#reply.write(event);
    this.#waiting = undefined;
  }

  write(event: Buffer): boolean {
    if (this.#waiting === undefined) return this.#reply.write(event);
    if (this.#waiting.length < heldMax) this.#waiting.push(event);
    return this.#waiting.length < heldMax;
  }
}
