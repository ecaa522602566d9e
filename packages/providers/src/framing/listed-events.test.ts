import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ListUnframer } from './listed-events.ts';
import { parseSseEvents } from './sse.ts';

it('makes an event of each object or list in a list of JSON, however it is written and cut', () => {
  const items = fc.array(
    fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue())),
  );
  const cuts = fc.array(fc.nat(), { maxLength: 20 });
  fc.assert(
    fc.property(items, cuts, fc.constantFrom(undefined, 2, '\t'), (list, at, space) => {
      const bytes = Buffer.from(`\r\n${JSON.stringify(list, null, space)}\n`);
      const edges = [0, ...at.map((cut) => cut % bytes.length), bytes.length].sort((a, b) => a - b);
      const unframer = new ListUnframer();
      const events = edges.slice(1).map((end, i) => unframer.push(bytes.subarray(edges[i], end)));
      const told = parseSseEvents(Buffer.concat([...events, unframer.end()]));
      expect(told.map(({ data }) => JSON.parse(data))).toEqual(JSON.parse(JSON.stringify(list)));
    }),
  );
});

it('changes nothing of what passes', () => {
  const bytes = Buffer.from('[{\n"a": 1}\n]');
  new ListUnframer().push(bytes);
  expect(bytes.toString()).toBe('[{\n"a": 1}\n]');
});
