import { describe, expect, it } from 'vitest';
import { FlagError, parseStartFlags } from './flags.ts';

describe('parseStartFlags', () => {
  it('needs no flags', () => {
    expect(parseStartFlags([])).toEqual({
      dataDir: undefined,
      port: 8787,
      json: false,
      reset: false,
      help: false,
    });
  });

  it('reads every flag, in both spellings of a value', () => {
    const expected = { dataDir: 'here', port: 9000, json: true, reset: true, help: false };
    expect(parseStartFlags(['--data', 'here', '--port', '9000', '--json', '--reset'])).toEqual(
      expected,
    );
    expect(parseStartFlags(['--data=here', '--port=9000', '--json', '--reset'])).toEqual(expected);
  });

  it.each([
    ['a port that is no number', ['--port', 'http'], '--port must be a number'],
    [
      'a port with too little room after it',
      ['--port', '65530'],
      '--port must be a number from 1 to 65522',
    ],
    ['an unknown flag', ['--prot', '1'], "Unknown option '--prot'"],
    ['a stray word', ['fast'], "Unexpected argument 'fast'"],
    ['an empty directory name', ['--data', ''], '--data must name a directory'],
  ])('refuses %s, and says why', (_name, args, message) => {
    expect(() => parseStartFlags(args)).toThrow(FlagError);
    expect(() => parseStartFlags(args)).toThrow(message);
  });
});
