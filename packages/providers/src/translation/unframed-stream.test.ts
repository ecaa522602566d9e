import { describe, expect, it } from 'vitest';
import { contextFor, everywhere, play } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import type { ProviderEntry, StreamFault, Unframer } from '../contract.ts';
import { findTranslation } from './find-translation.ts';

/** One event a line; `!` breaks the framing, and a line without its end is cut. */
class LineUnframer implements Unframer {
  fault: StreamFault | undefined;
  #held = '';

  push(chunk: Buffer): Buffer {
    const lines = (this.#held + chunk.toString('latin1')).split('\n');
    this.#held = lines.pop() as string;
    let out = '';
    for (const line of lines) {
      if (line === '!') {
        this.fault = { type: 'broken', message: 'broken frame', status: 502 };
        break;
      }
      out += `data: ${line}\n\n`;
    }
    return Buffer.from(out, 'latin1');
  }

  end(): Buffer {
    if (this.#held !== '') this.fault ??= { type: 'cut', message: 'cut frame', status: 502 };
    return Buffer.alloc(0);
  }
}

const openai = findProvider('openai')!;
const provider: ProviderEntry = {
  ...openai,
  endpoints: {
    chatComplete: {
      format: 'openai-chat',
      path: '/c',
      envelope: { openUnframer: () => new LineUnframer() },
    },
  },
};
const native = findTranslation(provider, 'chatComplete');
const translated = findTranslation(provider, 'messages');

const text = '{"id":"c1","choices":[{"index":0,"delta":{"content":"Gr\\u00fc"}}]}';
const finish = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}';
const whole = Buffer.from(`${text}\n${finish}\n[DONE]\n`);

describe('a stream in a vendor’s own framing', () => {
  for (const call of [native, translated]) {
    const open = () => call.openStream(contextFor(provider), { model: 'm' });

    it(`${call.mode}: is read the same however it is cut`, () => {
      const once = play(open(), whole, []);
      expect(once.phases).toEqual(['preamble', 'complete']);
      expect(once.facts).toMatchObject({ id: 'c1', finishReason: 'stop' });
      expect(String(once.bytes)).toMatch(/Gr(ü|\\u00fc)/);
      const cut = play(open(), whole, everywhere(whole));
      expect(cut.bytes.equals(once.bytes)).toBe(true);
      expect(cut.phases).toEqual(['preamble', 'content', 'complete']);
    });

    it(`${call.mode}: fails where the framing breaks, and says so only once it is told`, () => {
      const reader = open();
      const broken = Buffer.from(`${text}\n!\n${finish}\n[DONE]\n`);
      const played = play(reader, broken, [broken.indexOf('!') + 2]);
      expect(played.phases.at(-1)).toBe('failed');
      expect(played.fault).toEqual({ type: 'broken', message: 'broken frame', status: 502 });
      expect(reader.faultForwarded).toBe(false);
      expect(String(played.bytes)).toMatch(/Gr(ü|\\u00fc)/);
      expect(String(reader.errorEvent(played.fault as StreamFault))).toContain('broken frame');
    });

    it(`${call.mode}: does not take a frame that was cut for an end`, () => {
      const played = play(open(), Buffer.from(`${text}\n${finish}\n{"cho`), []);
      expect(played.phases.at(-1)).toBe('failed');
      expect(played.fault?.type).toBe('cut');
    });

    it(`${call.mode}: is whole once its end was seen, whatever follows`, () => {
      const played = play(open(), Buffer.from(`${text}\n${finish}\n[DONE]\n!\n`), [150]);
      expect(played.phases.at(-1)).toBe('complete');
    });
  }

  it('is told natively as server-sent events', () => {
    const played = play(native.openStream(contextFor(provider), {}), whole, []);
    expect(String(played.bytes)).toBe(`data: ${text}\n\ndata: ${finish}\n\ndata: [DONE]\n\n`);
  });
});
