import { ownTime } from '@sluice/testkit/own-time';
import { describe, expect, it } from 'vitest';
import { typeOfFrame } from './frame-type.ts';

describe('typeOfFrame', () => {
  it.each<[string, string | undefined]>([
    ['{"type":"response.done"}', 'response.done'],
    ['{"event_id":"e","type":"response.done","response":{}}', 'response.done'],
    [' {\n "a" : [1,{"type":"x"},"]"] , "type" : "t" }', 't'],
    ['{"response":{"type":"inner","text":"\\"}"},"type":"outer"}', 'outer'],
    ['{"a":"\\\\","type":"t"}', 't'],
    ['{"a":"\\\\\\"","type":"t"}', 't'],
    ['{"a":12.5e3,"b":null,"type":"t"}', 't'],
    ['{"a":{"type":"inner"}}', undefined],
    ['{"type":5}', undefined],
    ['["type","t"]', undefined],
    ['{"type"', undefined],
    ['{"a":"never ends', undefined],
    ['{"a":{"b":', undefined],
    [`{"type":"${'x'.repeat(500)}"}`, undefined],
    ['', undefined],
    ['garbage', undefined],
  ])('%s', (text, type) => {
    expect(typeOfFrame(Buffer.from(text))).toBe(type);
  });

  it('agrees with a parser on whatever has a type, and passes over a long text quickly', () => {
    const audio = Buffer.from(JSON.stringify({ delta: 'A'.repeat(4e6), type: 'audio' }));
    const spentMs = ownTime();
    expect(typeOfFrame(audio)).toBe('audio');
    expect(spentMs()).toBeLessThan(50);
  });
});
