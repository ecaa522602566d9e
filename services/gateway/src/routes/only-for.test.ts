import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { onlyFor, type ServerMode } from './only-for.ts';

function answered(mode: ServerMode, url: string): boolean {
  let isAnswered = false;
  const answer = () => {
    isAnswered = true;
  };
  onlyFor(mode, answer, () => {})({ url } as IncomingMessage, {} as ServerResponse);
  return isAnswered;
}

describe('onlyFor', () => {
  const ofMcp = [
    '/weather/mcp',
    '/team/weather/mcp?x=1',
    '/oauth/token',
    '/oauth/weather/authorize?client_id=a',
    '/.well-known/oauth-protected-resource/weather/mcp',
    '/.well-known/jwks.json',
    '/v0.1/servers',
    '/v1/v0.1/servers?limit=1',
    'http://gateway.example/oauth/token',
  ];
  const ofModels = [
    '/v1/chat/completions',
    '/v1/mcp-servers',
    '/v1/agent/travel/',
    '/v1/healthy',
    '/v1/model-configs/pricing/openai/gpt-4o',
    '/docs',
    '/',
    '*',
    '/oauthx',
  ];
  const probes = ['/health', '/health/live', '/health/ready?a', '/v1/health'];

  it('answers everything, or what is wanted alone, and probes in any case', () => {
    const all = [...ofMcp, ...ofModels, ...probes];
    const ofMode = (mode: ServerMode) => all.filter((url) => answered(mode, url));
    expect(ofMode('all')).toEqual(all);
    expect(ofMode('mcp')).toEqual([...ofMcp, ...probes]);
    expect(ofMode('llm')).toEqual([...ofModels, ...probes]);
  });
});
