import { Role, type SendMessageRequest, type StreamResponse } from '@a2a-js/sdk';
import { ClientFactory, ClientFactoryOptions } from '@a2a-js/sdk/client';
import type { Task as OldTask } from 'a2a-sdk-03';
import {
  ClientFactory as OldClientFactory,
  ClientFactoryOptions as OldOptions,
  RestTransportFactory as OldRestFactory,
} from 'a2a-sdk-03/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type DemoUpstream, startDemoUpstream } from '../index.ts';

let demo: DemoUpstream;
beforeAll(async () => {
  demo = await startDemoUpstream({ port: 0 });
});
afterAll(() => demo.close());

function asking(text: string, returnImmediately = false): SendMessageRequest {
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

describe.each(['JSONRPC', 'HTTP+JSON'])('a client of A2A 1.0 by %s', (protocol) => {
  const newClient = () =>
    new ClientFactory(
      ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
        preferredTransports: [protocol],
      }),
    ).createFromUrl(`${demo.url}/agent/`, '.well-known/agent-card.json');

  it('sends, streams, looks again, lists and cancels', async () => {
    const client = await newClient();
    const task = (await client.sendMessage(asking('Hello there'))) as { id: string };
    expect(JSON.stringify(task)).toContain('You said: Hello there');
    const kinds: (string | undefined)[] = [];
    const texts: string[] = [];
    for await (const event of client.sendMessageStream(asking('Hello there'))) {
      kinds.push(event.payload?.$case);
      texts.push(textIn(event));
    }
    expect(kinds).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    expect(texts.join('')).toBe('You said: Hello there');
    const again = await client.getTask({ tenant: '', id: task.id });
    expect(again.metadata).toMatchObject({ usage: { total_tokens: 6 } });
    const slow = (await client.sendMessage(asking('slow 60', true))) as { id: string };
    const cancelled = await client.cancelTask({ tenant: '', id: slow.id, metadata: undefined });
    expect(cancelled.status?.state).toBe(5);
    await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toThrow(/not found/i);
  });
});

describe.each(['JSONRPC', 'HTTP+JSON'])('a client of A2A 0.3 by %s', (protocol) => {
  it('sends, streams, looks again and cancels', async () => {
    const options = OldOptions.createFrom(OldOptions.default, {
      transports: [new OldRestFactory()],
      preferredTransports: [protocol],
    });
    const client = await new OldClientFactory(options).createFromUrl(
      `${demo.url}/agent/`,
      '.well-known/agent-card.json',
    );
    const message = (text: string) => ({
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
    });
    const task = (await client.sendMessage({ message: message('Hello') })) as OldTask;
    expect(task.status.state).toBe('completed');
    expect(JSON.stringify(task.artifacts)).toContain('You said: ');
    const kinds: string[] = [];
    for await (const event of client.sendMessageStream({ message: message('Hello') }))
      kinds.push(event.kind);
    expect(kinds).toEqual([
      'task',
      'status-update',
      'artifact-update',
      'artifact-update',
      'artifact-update',
      'status-update',
    ]);
    const again = await client.getTask({ id: task.id });
    expect(again.metadata).toMatchObject({ usage: { total_tokens: 4 } });
    const slow = (await client.sendMessage({
      message: message('slow 60'),
      configuration: { blocking: false },
    })) as OldTask;
    expect((await client.cancelTask({ id: slow.id })).status.state).toBe('canceled');
  });
});

function textIn({ payload }: StreamResponse): string {
  if (payload?.$case !== 'artifactUpdate') return '';
  return (payload.value.artifact?.parts ?? [])
    .map((part) => (part.content?.$case === 'text' ? part.content.value : ''))
    .join('');
}
