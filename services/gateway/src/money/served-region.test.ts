import type { SettingName } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import type { Target } from '../exchange/target.ts';
import { servedRegion } from './served-region.ts';

const target = (id: string, settings: Partial<Record<SettingName, string>>, url?: string) =>
  ({
    entry: { id },
    setting: (name: SettingName) => settings[name],
    customHost: url === undefined ? undefined : { url },
  }) as unknown as Target;

describe('servedRegion', () => {
  it('believes the reply first', () => {
    const vertex = target('vertex-ai', { 'vertex-region': 'us-east5' });
    expect(servedRegion(vertex, { servedRegion: 'global' })).toBe('global');
    expect(servedRegion(vertex, undefined)).toBe('us-east5');
  });

  it('knows the credential’s region, and OpenAI’s regional hosts', () => {
    expect(servedRegion(target('bedrock', { 'aws-region': 'eu-west-1' }), {})).toBe('eu-west-1');
    expect(servedRegion(target('bedrock', {}), {})).toBe('');
    const openAi = (url?: string) => servedRegion(target('openai', {}, url), {});
    expect(openAi('https://eu.api.openai.com/v1')).toBe('eu');
    for (const url of [
      undefined,
      'https://api.openai.com/v1',
      'https://eu.api.openai.com.evil.example/v1',
      'https://evil.example/https://eu.api.openai.com/',
    ])
      expect(openAi(url)).toBe('');
    expect(servedRegion(target('groq', {}, 'https://eu.api.openai.com/v1'), {})).toBe('');
  });
});
