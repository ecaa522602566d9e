import { randomBytes } from 'node:crypto';
import {
  createSealer,
  McpFault,
  type McpRequest,
  type McpResponse,
  readMessage,
} from '@sluice/mcp';
import { describe, expect, it } from 'vitest';
import type { McpCall } from './mcp-call.ts';
import { newSessionName, type Session, sealSession } from './session.ts';
import { SessionNotes } from './session-notes.ts';
import { Sessions } from './sessions.ts';

const nowMs = Date.now();
const sealer = createSealer([randomBytes(32)]);

function sessionOf(given: Partial<Session> = {}): Session {
  return {
    name: newSessionName(),
    organisationId: 'organisation',
    workspaceId: 'workspace',
    serverId: 'server',
    principal: 'user:ann',
    revision: '2025-11-25',
    upstreamId: 'upstream',
    client: '{}',
    expiresAt: Math.floor(nowMs / 1000) + 60,
    begunBy: 'replica',
    ...given,
  };
}

/** Of a call what a session is compared with. */
function callOf(principal = 'user:ann', serverId = 'server', atMs = nowMs): McpCall {
  return {
    principal,
    server: { source: { id: serverId } },
    bundle: { source: { workspaceId: 'workspace' } },
    exchange: { arrival: { startedAtMs: atMs } },
  } as unknown as McpCall;
}

function open() {
  let opened = 0;
  const counting = {
    ...sealer,
    open: (kind: string, text: string) => {
      opened++;
      return sealer.open(kind, text);
    },
  };
  const sessions = new Sessions({
    sealer: counting,
    notes: new SessionNotes(undefined),
    replicaId: 'replica',
  });
  return { sessions, opened: () => opened };
}

describe('Sessions', () => {
  it('opens an id once, and knows it again', async () => {
    const { sessions, opened } = open();
    const session = sessionOf();
    const id = sealSession(sealer, session);
    for (let at = 0; at < 3; at++) expect(await sessions.of(callOf(), id)).toEqual(session);
    expect(opened()).toBe(1);
  });

  it('takes nothing for an id that it remembers but that id', async () => {
    const { sessions } = open();
    const id = sealSession(sealer, sessionOf()) ?? '';
    await sessions.of(callOf(), id);
    // It ends as the one that is remembered.
    const forged = `${id.startsWith('B') ? 'C' : 'B'}${id.slice(1)}`;
    expect(() => sessions.of(callOf(), forged)).toThrow('Session not found');
    expect(() => sessions.of(callOf(), id.slice(-16))).toThrow('Session not found');
    expect((await sessions.of(callOf(), id)).serverId).toBe('server');
  });

  it.each([
    ['is over', callOf('user:ann', 'server', nowMs + 61_000)],
    ['is of somebody else', callOf('user:bob')],
    ['is of another server', callOf('user:ann', 'other')],
  ])('lets nobody go on with a session that it remembers and that %s', async (_, call) => {
    const { sessions } = open();
    const id = sealSession(sealer, sessionOf());
    await sessions.of(callOf(), id);
    expect(() => sessions.of(call, id)).toThrow(McpFault);
  });

  it('does not remember past its end', async () => {
    const { sessions } = open();
    const session = sessionOf();
    const id = sealSession(sealer, session);
    await sessions.of(callOf(), id);
    await sessions.end(session);
    expect(() => sessions.of(callOf(), id)).toThrow('Session not found');
  });

  it('takes ids of 1,024 bytes of servers, whatever the client says of itself, and says of which it takes none', () => {
    const id = '01a2267b-c44a-71de-bf38-cc220cd3f4e7';
    const call = {
      principal: `user:${id}`,
      server: { source: { id } },
      bundle: { source: { workspaceId: id } },
      key: { source: { organisationId: id } },
    } as unknown as McpCall;
    const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
    const asked = {
      idText: '1',
      params: {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: { name: 'n'.repeat(900) },
      },
    } as unknown as McpRequest;
    const reply = readMessage(
      Buffer.from(
        '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}',
      ),
    ) as McpResponse;
    const begun = new Sessions({
      sealer,
      notes: new SessionNotes(undefined),
      replicaId: id,
    });
    const upstreamId = 's'.repeat(1024);
    expect(begun.begin(call, asked, reply, upstreamId).id.length).toBeLessThanOrEqual(2048);
    expect(() => begun.begin(call, asked, reply, 's'.repeat(1200))).toThrow(
      'its session id is too long',
    );
  });

  it('keeps what is too long for an id of a merged server for itself alone, without Redis', async () => {
    const here = open().sessions;
    const call = { ...callOf(), key: { source: { organisationId: 'organisation' } } } as McpCall;
    const asked = {
      params: { capabilities: {}, clientInfo: { name: 'c' } },
    } as unknown as McpRequest;
    for (const [length, elsewhere] of [
      [100, 'x'.repeat(100)],
      [3000, ''],
    ] as const) {
      const { id } = await here.beginMerged(call, asked, 'x'.repeat(length));
      expect(id.length).toBeLessThanOrEqual(2048);
      const known = await here.of(callOf(), id);
      expect(known.upstreamId).toBe('x'.repeat(length));
      // Of which a merged server says 404.
      expect((await open().sessions.of(callOf(), id)).upstreamId).toBe(elsewhere);
      await here.noteMerged(known, { logLevel: 'error' });
      expect((await here.of(callOf(), id)).upstreamId).toBe('x'.repeat(length));
      expect(await here.logLevelOf(known)).toBe('error');
    }
  });

  it('keeps nothing of ids that are none', () => {
    const { sessions, opened } = open();
    const id = sealSession(createSealer([randomBytes(32)]), sessionOf());
    for (let at = 0; at < 2; at++)
      expect(() => sessions.of(callOf(), id)).toThrow('Session not found');
    expect(opened()).toBe(2);
  });
});
