import { expect, it } from 'vitest';
import { logFilter } from './log-filter.ts';

const endpointsOf = (query: { endpoint?: string[]; mode?: string[] }) =>
  logFilter({
    time_of_generation_min: new Date(0),
    time_of_generation_max: new Date(1),
    ...query,
  }).endpoints;

it.each([
  [{}, []],
  [{ endpoint: ['chatComplete'] }, ['chatComplete']],
  [{ mode: ['mcp:tool_call'] }, ['mcp:tool_call']],
  [{ endpoint: ['embed', 'chatComplete'], mode: ['chatComplete', 'messages'] }, ['chatComplete']],
])('endpoint and mode narrow each other: %o', (query, endpoints) => {
  expect(endpointsOf(query)).toEqual(endpoints);
});

it('what is of one endpoint and of the mode of another is nothing', () => {
  const endpoints = endpointsOf({ endpoint: ['embed'], mode: ['mcp:tool_call'] });
  expect(endpoints).not.toEqual([]);
  expect(endpoints).not.toContain('embed');
  expect(endpoints).not.toContain('mcp:tool_call');
});
