import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PackedEvent } from './packed-event.ts';

it('an event is what it was, whatever came before it', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 6 }), (events) => {
      let before: PackedEvent | undefined;
      for (const event of events) {
        const bytes = Buffer.from(event);
        before = new PackedEvent(bytes, before);
        expect(before.bytes.equals(bytes)).toBe(true);
      }
    }),
  );
  const told = (text: string) => Buffer.from(`data: {"choices":[{"delta":"${text}"}]}\n\n`);
  let before: PackedEvent | undefined;
  for (const text of ['Grüße', '', 'Grüß', 'aaa', 'aa', '🙂"}]}']) {
    before = new PackedEvent(told(text), before);
    expect(before.bytes.toString()).toBe(told(text).toString());
  }
});
