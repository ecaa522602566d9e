import type { JsonObject } from '@sluice/contracts';
import { refuseChat } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { contextFor } from '../../../test/fixtures.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';
import { withEdits } from '../fitted-request.ts';

const models = ['gpt-6-sol', 'gpt-5.6', 'gpt-5.5', 'gpt-5.4', 'gpt-5.2', 'gpt-5.1', 'gpt-5', 'o3'];
const talking = ['gpt-4.1', 'gpt-4o-mini'];
const messages = [{ role: 'user', content: 'Hi' }];

/** As a client of chat completions asks. */
function ask(model: string, more: object, provider = 'openai') {
  const found = findProvider(provider)!;
  const body = { model, messages, ...more } as JsonObject;
  const context = contextFor(found, false, { model, request: body });
  const translation = findTranslation(found, 'chatComplete', context);
  const { body: changed, edits, dropped } = translation.encode(body, context);
  expect(translation.mode).toBe('native');
  const sent = edits === undefined ? (changed ?? body) : withEdits(body, edits);
  return { sent, dropped, isUntouched: changed === undefined && edits === undefined };
}

const ways: object[] = [
  {},
  { temperature: 0.2 },
  { temperature: 1 },
  { top_p: 0.5, frequency_penalty: 0.1, presence_penalty: 0.1 },
  { logprobs: true, top_logprobs: 2 },
  { stop: ['x'] },
  { max_tokens: 9 },
  { max_tokens: 9, temperature: 0 },
  { max_completion_tokens: 9 },
];
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'];

describe('a native request of chat completions', () => {
  it.each([...models, ...talking])('is one that %s takes, whatever it asked for', (model) => {
    for (const way of ways)
      for (const effort of [undefined, ...efforts]) {
        const more = { ...way, ...(effort !== undefined && { reasoning_effort: effort }) };
        const isTaken = refuseChat({ model, messages, ...more }) === undefined;
        const { sent, isUntouched } = ask(model, more);
        expect(refuseChat(sent), JSON.stringify(more)).toBeUndefined();
        // What was served before is served as it came.
        if (isTaken) expect(isUntouched, JSON.stringify(more)).toBe(true);
      }
  });

  it('names what it lost', () => {
    expect(ask('gpt-5', { temperature: 0.2, top_p: 1, max_tokens: 9, seed: 1 })).toMatchObject({
      sent: { model: 'gpt-5', messages, seed: 1, max_completion_tokens: 9 },
      dropped: ['temperature'],
    });
    expect(ask('gpt-5', { max_tokens: 9, max_completion_tokens: 8 })).toMatchObject({
      sent: { model: 'gpt-5', messages, max_completion_tokens: 8 },
      dropped: ['max_tokens'],
    });
    expect(ask('gpt-4.1', { reasoning_effort: 'low', temperature: 0.2 })).toMatchObject({
      sent: { model: 'gpt-4.1', messages, temperature: 0.2 },
      dropped: ['reasoning_effort'],
    });
    expect(ask('gpt-5.2', { reasoning_effort: 'low', temperature: null })).toMatchObject({
      isUntouched: true,
    });
  });

  it.each(['groq', 'openrouter', 'together-ai'])('is left to %s, who may take more', (provider) => {
    expect(ask('gpt-5', { temperature: 0.2 }, provider).sent).toMatchObject({ temperature: 0.2 });
  });

  it('stays as it came where nobody knows the model', () => {
    expect(ask('gpt-9-nova', { temperature: 0.2, max_tokens: 9 }).isUntouched).toBe(true);
    expect(ask('gpt-4o', { temperature: 0.2, max_tokens: 9 }).isUntouched).toBe(true);
  });
});
