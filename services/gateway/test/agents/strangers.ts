import { Role, type SendMessageRequest } from '@a2a-js/sdk';
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import type { Task as OldTask } from 'a2a-sdk-03';
import {
  DefaultAgentCardResolver as OldCardResolver,
  ClientFactory as OldClientFactory,
  ClientFactoryOptions as OldOptions,
  RestTransportFactory as OldRestFactory,
  JsonRpcTransportFactory as OldRpcFactory,
} from 'a2a-sdk-03/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentLab, SavedAgent } from './agent-lab.ts';
import { type SdkAgent, startAgent, startOldAgent } from './sdk-agents.ts';

/** Every address that a client called, whoever was behind it. */
const called = new Set<string>();

/** What clients do that know nothing of the gateway but its address, with agents that know nothing of it at all. */
export function describeStrangers(
  running: () => AgentLab,
  /** A word that a guardrail keeps back from callers. */
  denied?: string,
): void {
  let lab: AgentLab;
  let agent: SdkAgent;
  let oldAgent: SdkAgent;
  let saved: SavedAgent;
  let oldSaved: SavedAgent;

  beforeAll(async () => {
    lab = running();
    [agent, oldAgent] = await Promise.all([startAgent(), startOldAgent()]);
    saved = await lab.save(agent.url);
    oldSaved = await lab.save(oldAgent.url);
  });
  afterAll(() => Promise.all([agent.close(), oldAgent.close()]));

  /** As a client is given its key: a header with each request. */
  const withKey: typeof fetch = (input, init) => {
    called.add(new URL(input instanceof Request ? input.url : input).origin);
    const headers = new Headers(init?.headers);
    headers.set('x-service-api-key', lab.scenario.stack.credentials.workspace_key);
    return fetch(input, { ...init, headers });
  };

  describe.each(['JSONRPC', 'HTTP+JSON'])('A1: @a2a-js/sdk 1.3 by %s', (protocol) => {
    const client = () =>
      new ClientFactory(
        ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
          transports: [
            new JsonRpcTransportFactory({ fetchImpl: withKey }),
            new RestTransportFactory({ fetchImpl: withKey }),
          ],
          preferredTransports: [protocol],
          cardResolver: new DefaultAgentCardResolver({ fetchImpl: withKey }),
        }),
      ).createFromUrl(saved.url, '.well-known/agent-card.json');

    it('discovers, sends, streams, looks again and cancels, through the gateway alone', async () => {
      called.clear();
      const own = await client();
      const task = (await own.sendMessage(asking('hello'))) as { id: string };
      expect(JSON.stringify(task)).toContain('heard hello');
      const kinds: (string | undefined)[] = [];
      for await (const event of own.sendMessageStream(asking('hello')))
        kinds.push(event.payload?.$case);
      expect(kinds).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
      expect((await own.getTask({ tenant: '', id: task.id })).id).toBe(task.id);
      const slow = (await own.sendMessage(asking('slow', true))) as { id: string };
      const cancelled = await own.cancelTask({ tenant: '', id: slow.id, metadata: undefined });
      expect(cancelled.status?.state).toBe(5);
      await expect(own.getTask({ tenant: '', id: 'none' })).rejects.toThrow(/not found/i);
      expect([...called]).toEqual([lab.scenario.stack.gatewayUrls[0]]);
    });

    if (denied !== undefined)
      it('is told of a denial, whole and in a stream', async () => {
        const own = await client();
        await expect(own.sendMessage(asking(denied))).rejects.toThrow(/denied|failed|446/);
        const { heard, error } = await heardOf(own.sendMessageStream(asking(denied)));
        expect(String(error)).toMatch(/denied|failed|446/);
        expect(JSON.stringify(heard)).not.toContain(`heard ${denied}`);
      });
  });

  describe.each(['JSONRPC', 'HTTP+JSON'])('A2: @a2a-js/sdk 0.3.14 by %s', (protocol) => {
    const client = () =>
      new OldClientFactory(
        OldOptions.createFrom(OldOptions.default, {
          transports: [
            new OldRpcFactory({ fetchImpl: withKey }),
            new OldRestFactory({ fetchImpl: withKey }),
          ],
          preferredTransports: [protocol],
          cardResolver: new OldCardResolver({ fetchImpl: withKey }),
        }),
      ).createFromUrl(oldSaved.url, '.well-known/agent-card.json');
    const message = (text: string) => ({
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
    });

    it('discovers, sends, streams, looks again and cancels, through the gateway alone', async () => {
      called.clear();
      const own = await client();
      const task = (await own.sendMessage({ message: message('hello') })) as OldTask;
      expect(task.status.state).toBe('completed');
      expect(JSON.stringify(task.artifacts)).toContain('heard hello');
      const kinds: string[] = [];
      for await (const event of own.sendMessageStream({ message: message('hello') }))
        kinds.push(event.kind);
      expect(kinds).toEqual(['task', 'artifact-update', 'status-update']);
      expect((await own.getTask({ id: task.id })).id).toBe(task.id);
      const slow = (await own.sendMessage({
        message: message('slow'),
        configuration: { blocking: false },
      })) as OldTask;
      expect((await own.cancelTask({ id: slow.id })).status.state).toBe('canceled');
      await expect(own.getTask({ id: 'none' })).rejects.toThrow(/not found/i);
      expect([...called]).toEqual([lab.scenario.stack.gatewayUrls[0]]);
    });

    if (denied !== undefined)
      it('is told of a denial, whole and in a stream', async () => {
        const own = await client();
        const asked = { message: message(denied) };
        await expect(own.sendMessage(asked)).rejects.toThrow(/denied|failed|446/);
        const { heard, error } = await heardOf(own.sendMessageStream(asked));
        expect(String(error)).toMatch(/denied|failed|446/);
        expect(JSON.stringify(heard)).not.toContain(`heard ${denied}`);
      });
  });
}

/** What a stream told before it ended, and the error by which it did. */
async function heardOf(stream: AsyncIterable<unknown>) {
  const heard: unknown[] = [];
  try {
    for await (const event of stream) heard.push(event);
    return { heard, error: undefined };
  } catch (error) {
    return { heard, error };
  }
}

export function asking(text: string, returnImmediately = false): SendMessageRequest {
  return {
    tenant: '',
    message: {
      messageId: crypto.randomUUID(),
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      parts: [
        {
          content: { $case: 'text', value: text },
          metadata: undefined,
          filename: '',
          mediaType: '',
        },
      ],
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately,
    },
    metadata: undefined,
  };
}
