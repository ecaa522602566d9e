import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfBase64, bytesOfBuffer, mediaSeconds } from './media-seconds.ts';

/** Made with ffmpeg: a red picture twice a second, or silence. */
const made: [name: string, seconds: number | undefined][] = [
  ['movie.mp4', 3],
  // What it has stands in front of what it shows.
  ['movie-first.mp4', 3],
  ['movie.mov', 3],
  ['movie.webm', 3],
  ['movie.mkv', 3],
  ['sound.m4a', 3],
  ['sound.mp3', 3],
  // Of varying rate, with a Xing header.
  ['counted.mp3', 3],
  ['vorbis.ogg', 3],
  ['opus.ogg', 3],
  ['sound.flac', 3],
  ['sound.wav', 1],
  // Fragments that nobody counted, and frames without a container.
  ['fragments.mp4', undefined],
  ['sound.aac', undefined],
];

const read = (name: string) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url));

describe('how long sound and video last', () => {
  it.each(made)('is read of the header: %s', (name, seconds) => {
    const file = read(name);
    const text = `data:;base64,${file.toString('base64')}`;
    for (const bytes of [bytesOfBuffer(file), bytesOfBase64(text, 13)]) {
      const told = mediaSeconds(bytes);
      if (seconds === undefined) expect(told).toBeUndefined();
      else expect(Math.abs((told ?? 0) - seconds)).toBeLessThan(0.15);
    }
  });

  it('is a number above 0 or nothing, whatever is damaged', () => {
    const files = made.map(([name]) => read(name));
    const damages = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(fc.constantFrom(...files), damages, fc.nat(), (file, changes, cut) => {
        const damaged = Buffer.from(file.subarray(0, cut % 2 === 0 ? file.length : cut));
        for (const [at, byte] of changes)
          if (damaged.length > 0) damaged[at % Math.min(damaged.length, 600)] = byte;
        const told = mediaSeconds(bytesOfBuffer(damaged));
        expect(told === undefined || (Number.isFinite(told) && told > 0)).toBe(true);
        const text = damaged.toString('base64');
        expect(mediaSeconds(bytesOfBase64(text, 0)) ?? 0).toBeCloseTo(told ?? 0, -1);
      }),
      { numRuns: 2000 },
    );
  });
});
