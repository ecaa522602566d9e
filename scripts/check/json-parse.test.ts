import { describe, expect, it } from 'vitest';
import { findRawParsing } from './json-parse.ts';

const inServices = (text: string) =>
  findRawParsing([{ path: 'services/gateway/src/new.ts', text }]).filter((fault) =>
    fault.includes('new.ts'),
  );

describe('findRawParsing', () => {
  it('finds JSON.parse in a file that is not listed, and nothing in comments and tests', () => {
    expect(inServices('const a = JSON.parse(text);')).toHaveLength(1);
    expect(inServices('const a = parseText(text);')).toHaveLength(1);
    expect(inServices(' * as JSON.parse(text) does\n// JSON.parse(text)')).toEqual([]);
    const inTest = { path: 'services/gateway/src/a.test.ts', text: 'JSON.parse(x)' };
    expect(findRawParsing([inTest]).filter((fault) => fault.includes('a.test.ts'))).toEqual([]);
  });

  it('finds entries of its list that nothing needs any more', () => {
    expect(findRawParsing([]).join()).toContain('read-json.ts, which does not parse');
  });
});
