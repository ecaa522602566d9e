import { expect, it } from 'vitest';
import { repeatedPath } from './repeated-path.ts';

it.each([
  ['{"a":1,"a":2}', ['a']],
  ['{"x":[{"b":1},[0,{"c":{"d":1,"e":[],"\\u0064":2}}]]}', ['x', 1, 1, 'c', 'd']],
  ['[1,{"a":[1,2],"b":3,"a":4}]', [1, 'a']],
])('of %s the path is told', (text, path) => {
  expect(repeatedPath(Buffer.from(text))).toEqual(path);
});
