import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gatewayPortDefault } from '@sluice/stack';
import { describe, expect, it } from 'vitest';
import { FlagError, parseStartFlags, startFlags, usage } from './flags.ts';

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

  it('takes what npm kept for itself, unless it kept only half; what stands after -- wins', () => {
    const given = { npm_config_port: '9000', npm_config_data: 'here', npm_config_reset: 'true' };
    expect(parseStartFlags([], given)).toMatchObject({ port: 9000, dataDir: 'here', reset: true });
    expect(parseStartFlags(['--port', '9001'], given).port).toBe(9001);
    expect(() => parseStartFlags(['9000'], { npm_config_port: 'true' })).toThrow(
      'npm took --port for itself',
    );
  });
});

describe('the usage', () => {
  it('names every flag, and the port that is there without one', () => {
    for (const flag of Object.keys(startFlags)) expect(usage).toContain(`  --${flag} `);
    expect(usage).toContain(`(default ${gatewayPortDefault})`);
  });

  it('is shown by npm start before anything is installed', () => {
    const bare = mkdtempSync(join(tmpdir(), 'bare-'));
    try {
      const scripts = join(import.meta.dirname, '..');
      for (const file of ['run.mjs', 'setup.mjs', 'setup', 'start/usage.txt'])
        cpSync(join(scripts, file), join(bare, 'scripts', file), { recursive: true });
      const args = [join(bare, 'scripts/run.mjs'), 'start', '--help'];
      expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(usage);
      expect(readdirSync(bare)).toEqual(['scripts']);
    } finally {
      rmSync(bare, { recursive: true });
    }
  });
});
