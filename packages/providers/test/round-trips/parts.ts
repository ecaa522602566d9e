import type { ChatPart, MediaSource, ToolCallPart } from '@sluice/contracts';
import fc from 'fast-check';
import { among, type Feature, type Features, fields } from './features.ts';

/** Text that no format trims, splits or takes for something else. */
export const text = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
  .map((value) => `a${value.replaceAll(/\s/gu, '_')}z`);
export const word = fc.stringMatching(/^[a-z]{3,8}$/);
const json = fc.dictionary(word, fc.oneof(text, fc.integer(), fc.boolean()), { maxKeys: 3 });
const base64 = fc.uint8Array({ minLength: 1, maxLength: 9 }).map(toBase64);

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

export const cacheControl = fc.constantFrom(
  { type: 'ephemeral' },
  { type: 'ephemeral', ttl: '1h' },
);

export function textPart(features: Features): fc.Arbitrary<ChatPart> {
  const more = fields(features, [['cache-control', 'cacheControl', cacheControl]]);
  return fc.tuple(text, more).map(([value, rest]) => ({ type: 'text', text: value, ...rest }));
}

export function imagePart(features: Features): fc.Arbitrary<ChatPart> {
  const source = among<MediaSource>(features, [
    [undefined, base64.map((data) => ({ kind: 'base64' as const, mediaType: 'image/png', data }))],
    [
      'image-url',
      word.map((name) => ({ kind: 'url' as const, url: `https://example.com/${name}.png` })),
    ],
  ]);
  const more = fields(features, [
    ['image-detail', 'detail', fc.constantFrom('low', 'high')],
    ['cache-control', 'cacheControl', cacheControl],
  ]);
  return fc.tuple(source, more).map(([from, rest]) => ({ type: 'image', source: from, ...rest }));
}

function filePart(features: Features): fc.Arbitrary<ChatPart> {
  const pdf = { kind: 'base64' as const, mediaType: 'application/pdf' };
  const source = among<MediaSource>(features, [
    ['file', base64.map((data) => ({ ...pdf, data }))],
    ['file-url', word.map((name) => ({ kind: 'url', url: `https://example.com/${name}.pdf` }))],
    ['file-id', word.map((fileId) => ({ kind: 'file-id', fileId }))],
    ['text-file', text.map((value) => ({ kind: 'text', mediaType: 'text/plain', text: value }))],
  ]);
  const more = fields(features, [['file-title', 'filename', word.map((name) => `${name}.pdf`)]]);
  return fc.tuple(source, more).map(([from, rest]) => ({ type: 'file', source: from, ...rest }));
}

const hasFiles = (features: Features): boolean =>
  (['file', 'file-url', 'file-id', 'text-file'] as const).some((feature) => features.has(feature));

export function userParts(features: Features): fc.Arbitrary<ChatPart[]> {
  const kinds = [textPart(features), imagePart(features)];
  if (hasFiles(features)) kinds.push(filePart(features));
  if (features.has('audio'))
    kinds.push(base64.map((data) => ({ type: 'audio', format: 'wav', data })));
  return fc.array(fc.oneof(...kinds), { minLength: 1, maxLength: 3 });
}

export function thinkingPart(
  features: Features,
  isSigned: boolean,
  redacted: Feature,
): fc.Arbitrary<ChatPart> {
  const signed = fc.constant(isSigned ? { signature: 'proof' } : {});
  const thought = fc
    .tuple(text, signed)
    .map(([value, rest]): ChatPart => ({ type: 'thinking', text: value, ...rest }));
  return among<ChatPart>(features, [
    [undefined, thought],
    [redacted, word.map((data) => ({ type: 'redacted-thinking', data }))],
  ]);
}

export const call: fc.Arbitrary<Omit<ToolCallPart, 'id'>> = fc.record({
  type: fc.constant('tool-call' as const),
  name: fc.constantFrom('weather', 'clock'),
  arguments: json.map((value) => JSON.stringify(value)),
});
