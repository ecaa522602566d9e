import { describe, expect, it } from 'vitest';
import { contextFor } from '../../test/fixtures.ts';
import { findProvider } from '../catalog.ts';
import { NativeTranslation } from '../translation/native-translation.ts';
import { KeptStreamReader } from './kept-stream.ts';

const native = new NativeTranslation({ format: 'openai-chat', path: '' });

function readerOf(hold: (bytes: number) => boolean = () => true): KeptStreamReader {
  const context = contextFor(findProvider('openai')!, true, { model: 'm', stream: true });
  return new KeptStreamReader(native.openStream(context, {}), hold);
}

const event = (content: string) =>
  `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}},"finish_reason":null}]}\n\n`;
const fault = 'data: {"error":{"message":"Busy","type":"server_error"}}\n\n';

function pushed(reader: KeptStreamReader, ...chunks: string[]): string {
  return Buffer.concat(chunks.map((chunk) => reader.push(Buffer.from(chunk)))).toString();
}

describe('a native stream that is kept', () => {
  it('passes by whole events, and all that passed is kept', () => {
    const reader = readerOf();
    const text = event('One') + event('two');
    expect(pushed(reader, text.slice(0, 30), text.slice(30, 150), text.slice(150))).toBe(text);
    expect(pushed(reader, event('half').slice(0, 40))).toBe('');
    expect(reader.takeKept()?.passed.toString()).toBe(text);
  });

  it('holds what comes with the event that ends it in an error', () => {
    const reader = readerOf();
    expect(pushed(reader, event('One'), event('two') + fault)).toBe(event('One'));
    const kept = reader.takeKept();
    expect(kept?.passed.toString()).toBe(event('One'));
    expect(kept?.held.toString()).toBe(event('two') + fault);
  });

  it.each([
    ['is too large', () => true, 40_000],
    ['may not be held', (bytes: number) => bytes < 0, 3],
  ])('passes unharmed and is not kept where it %s', (_, hold, count) => {
    const reader = readerOf(hold);
    const events = Array.from({ length: count }, (_, at) => event(`word ${at}`));
    expect(pushed(reader, ...events)).toBe(events.join(''));
    expect(reader.takeKept()).toBeUndefined();
  });

  it('is forgotten once it is whole', () => {
    const reader = readerOf();
    const text = `${event('One')}data: [DONE]\n\n`;
    expect(pushed(reader, text.slice(0, 50), text.slice(50))).toBe(text);
    expect(reader.phase).toBe('complete');
    expect(reader.takeKept()).toBeUndefined();
  });
});
