import { describe, expect, it } from 'vitest';
import { endedWorkIn, mayTellOfWork } from './ended-work.ts';

const used = { id: 'x', status: 'completed', usage: { input_tokens: 1 } };
const ended = [
  { object: 'response', background: true, ...used },
  { object: 'thread.run', ...used },
  { object: 'video', id: 'x', status: 'completed', seconds: '4' },
  { object: 'fine_tuning.job', id: 'x', status: 'failed', trained_tokens: 3 },
];

describe('mayTellOfWork', () => {
  it.each(ended)('reads a $object that has ended, however it is written', (document) => {
    expect(endedWorkIn(document)).toBeDefined();
    const text = JSON.stringify(document);
    const escaped = text.replace(/[a-z]/g, (letter) => `\\u00${letter.charCodeAt(0).toString(16)}`);
    const members = Object.entries(document).map(
      ([name, value]) => `\n"${name}" \t:\r ${JSON.stringify(value)} `,
    );
    for (const written of [text, escaped, `{${members.join(',')}}`, `{"object":1,${text.slice(1)}`])
      expect(mayTellOfWork(Buffer.from(written))).toBe(true);
  });

  it('does not read a response that was not made in the background', () => {
    const document = { object: 'response', background: false, ...used };
    expect(endedWorkIn(document)).toBeUndefined();
    expect(mayTellOfWork(Buffer.from(JSON.stringify(document, null, 2)))).toBe(false);
  });
});
