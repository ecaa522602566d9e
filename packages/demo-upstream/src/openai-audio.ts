// Wire format: https://platform.openai.com/docs/api-reference/audio
import { type DemoFile, isFile } from './form-body.ts';
import { missing } from './openai-vendor.ts';
import type { DemoAnswer, DemoBody } from './protocol.ts';

const samplesPerSecond = 24_000;
const samplesPerCharacter = 1_200;
const secondsMax = 60;

/** A tone that is as long as the text, as WAV, or as bare samples where they are asked for. */
export function createSpeech(body: DemoBody): DemoAnswer {
  if (typeof body.input !== 'string' || body.input === '') throw missing('input');
  const count = Math.min(body.input.length * samplesPerCharacter, secondsMax * samplesPerSecond);
  const samples = Buffer.alloc(count * 2);
  for (let index = 0; index < count; index += 1)
    samples.writeInt16LE(
      Math.round(8_000 * Math.sin((index * 440 * 2 * Math.PI) / samplesPerSecond)),
      index * 2,
    );
  if (body.response_format === 'pcm')
    return { kind: 'bytes', contentType: 'audio/pcm', pieces: piecesOf(samples) };
  const wav = Buffer.concat([wavHead(samples.length), samples]);
  return { kind: 'bytes', contentType: 'audio/wav', pieces: piecesOf(wav) };
}

const pieceBytes = 16 * 1024;

function piecesOf(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
}

/** One channel of 16 bits. */
function wavHead(dataBytes: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + dataBytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(samplesPerSecond, 24);
  head.writeUInt32LE(samplesPerSecond * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** Nothing is heard: the answer says which file came, and how long it would be at 16 kB a second. */
export function createTranscript(body: DemoBody): DemoAnswer {
  const { file } = body;
  if (!isFile(file)) throw missing('file');
  const text = `This is the Sluice demo model. You sent ${file.filename} of ${file.bytes} bytes.`;
  const seconds = secondsOf(file);
  switch (body.response_format) {
    case 'text':
      return plain(`${text}\n`);
    case 'srt':
      return plain(`1\n00:00:00,000 --> 00:00:01,000\n${text}\n\n`);
    case 'vtt':
      return plain(`WEBVTT\n\n00:00.000 --> 00:01.000\n${text}\n\n`);
    case 'verbose_json':
      return {
        kind: 'json',
        body: { task: 'transcribe', language: 'english', duration: seconds, text, segments: [] },
      };
    default:
      return { kind: 'json', body: { text, usage: { type: 'duration', seconds } } };
  }
}

function secondsOf({ bytes }: DemoFile): number {
  return Math.max(1, Math.ceil(bytes / 16_000));
}

function plain(text: string): DemoAnswer {
  return { kind: 'bytes', contentType: 'text/plain; charset=utf-8', pieces: [Buffer.from(text)] };
}
