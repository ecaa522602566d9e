import { expect, it } from 'vitest';
import { ToldResponse } from './told-response.ts';

it.each([2, 4_000_000_000, -1, 0.5])(
  'has no place for an item that is not the next one: %d',
  (index) => {
    const told = new ToldResponse();
    const item = { type: 'message', id: 'msg_1' };
    told.read({ type: 'response.output_item.added', output_index: 0, item });
    told.read({ type: 'response.output_item.done', output_index: 0, item });
    expect(told.hasGaps).toBe(false);
    told.read({ type: 'response.output_item.added', output_index: index, item });
    expect(told.hasGaps).toBe(true);
    expect(told.items).toHaveLength(1);
  },
);
