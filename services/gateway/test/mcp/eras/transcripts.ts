import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@sluice/testkit';
import { expect } from 'vitest';
import type { FixtureLog } from '../fixture-server.ts';
import type { EraClient, Json } from './era-clients.ts';

/** The server's side: what it counted, and what happens to it. */
export interface EraServer {
  readonly log: FixtureLog;
  /** Tells everybody that its tools and the resource `test://one` have changed. */
  announce(): void;
}

/** What a host and a server say to one another, in words that are the same in both eras. */
export type Transcript = unknown;

export const scenarios: Readonly<
  Record<string, (client: EraClient, server: EraServer) => Promise<Transcript>>
> = {
  async identity(client) {
    const { server, instructions } = client.identity();
    return { server, instructions };
  },

  async 'lists of three pages'(client) {
    const pages: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await client.request('tools/list', cursor === undefined ? {} : { cursor });
      pages.push(page.tools);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    const { resources } = await client.request('resources/list', {});
    const { resourceTemplates } = await client.request('resources/templates/list', {});
    const { prompts } = await client.request('prompts/list', {});
    return { pages, resources, resourceTemplates, prompts };
  },

  async 'calls and reads'(client) {
    const read = await client.request('resources/read', { uri: 'test://item/7' });
    const prompt = await client.request('prompts/get', {
      name: 'greet',
      arguments: { who: 'you' },
    });
    const ref = { type: 'ref/prompt', name: 'greet' };
    const argument = { name: 'who', value: 'Ad' };
    return [
      contentOf(await call(client, 'echo', { text: 'Grüße, 世界', n: 1.5 })),
      contentOf(await call(client, 'fails')),
      read.contents,
      prompt.messages,
      (await client.request('completion/complete', { ref, argument })).completion,
    ];
  },

  async progress(client) {
    const steps: unknown[] = [];
    const done = await client.request(
      'tools/call',
      { name: 'progress', arguments: { steps: 5 } },
      { onprogress: ({ progress, total }) => steps.push([progress, total]) },
    );
    return { steps, done: contentOf(done) };
  },

  async log(client) {
    await call(client, 'progress', { steps: 3 });
    // Notifications may be handled after the answer that they came before.
    await eventually(() => expect(client.heard).toHaveLength(3));
    return client.heard;
  },

  async sampling(client) {
    return [contentOf(await call(client, 'sample', { say: 'why' })), client.heard];
  },

  async elicitation(client) {
    return [contentOf(await call(client, 'ask')), client.heard];
  },

  async roots(client) {
    return [contentOf(await call(client, 'roots')), client.heard];
  },

  async subscribe(client, { announce }) {
    await client.subscribe('test://one');
    const wanted = ['tools changed', 'updated test://one'];
    // A stream of the older era may be open only after the server has spoken.
    await eventually(async () => {
      announce();
      await delay(20);
      expect([...new Set(client.heard)].sort()).toEqual(wanted);
    });
    return wanted;
  },

  async cancel(client, { log }) {
    const before = log.cancelled;
    const abort = new AbortController();
    const slow = client
      .request('tools/call', { name: 'slow', arguments: {} }, { signal: abort.signal })
      .then(
        () => 'answered',
        () => 'given up',
      );
    await delay(100);
    abort.abort();
    const end = await slow;
    await eventually(() => expect(log.cancelled).toBe(before + 1));
    return end;
  },
};

export type ScenarioName = string;

function call(client: EraClient, name: string, args: Json = {}): Promise<Json> {
  return client.request('tools/call', { name, arguments: args });
}

/** Without what only one era says. */
function contentOf({ content, structuredContent, isError }: Json): Json {
  return { content, structuredContent, isError: isError ?? false };
}
