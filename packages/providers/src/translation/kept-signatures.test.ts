import type { JsonObject } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { contextFor, okHead, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { findTranslation } from './find-translation.ts';

const google = findProvider('google')!;
const model = 'gemini-3-pro-preview';
const part = { functionCall: { name: 'f', args: { a: 1, b: 'x' } }, thoughtSignature: 's1' };
const reply = (id: string | undefined) => ({
  candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
  ...(id !== undefined && { responseId: id }),
});

class Keeper {
  readonly held = new Map<string, string>();
  keep(owner: string, call: string, signature: string): void {
    this.held.set(`${owner}/${call}`, signature);
  }
  find(owner: string, call: string): string | undefined {
    return this.held.get(`${owner}/${call}`);
  }
}

const keptBy = (owner: string, keptSignatures: Keeper) =>
  contextFor(google, true, { model, keptSignatures, owner });

/** Hears an answer, told whole or streamed. */
function hear(context: ReturnType<typeof keptBy>, id: string | undefined, stream: boolean): void {
  const call = findTranslation(google, 'chatComplete', context);
  const body = JSON.stringify(reply(id));
  if (!stream) call.decode(Buffer.from(body), context, okHead);
  else play(call.openStream(context, {}), Buffer.from(`data: ${body}\n\n`), []);
}

/** What Gemini is shown of the call by a client that knows the fields of the standard alone. */
function shown(context: ReturnType<typeof keptBy>, args = '{"a": 1, "b": "x"}'): unknown {
  const id = 'call_rsp_0';
  const body: JsonObject = {
    model,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: args } }],
      },
      { role: 'tool', tool_call_id: id, content: 'done' },
    ],
  };
  const sent = findTranslation(google, 'chatComplete', context).encode(body, context).body;
  const contents = sent?.contents as { parts: JsonObject[] }[];
  return contents[1]?.parts[0]?.thoughtSignature;
}

describe.each([false, true])('a call that was signed, streamed %s', (stream) => {
  it('is signed again for a client that drops unknown fields', () => {
    const context = keptBy('ws', new Keeper());
    hear(context, 'rsp', stream);
    expect(shown(context)).toBe('s1');
  });

  it('is nobody else’s, and no other call’s', () => {
    const keeper = new Keeper();
    hear(keptBy('ws', keeper), 'rsp', stream);
    const unknown = 'skip_thought_signature_validator';
    expect(shown(keptBy('other', keeper))).toBe(unknown);
    expect(shown(keptBy('ws', keeper), '{"a":2}')).toBe(unknown);
  });

  it('is not kept where its id is one that any answer has', () => {
    const keeper = new Keeper();
    hear(keptBy('ws', keeper), undefined, stream);
    expect(keeper.held.size).toBe(0);
  });
});
