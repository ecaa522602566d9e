import { type ConfigNode, parseConfigDocument } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { describe, expect, it } from 'vitest';
import { compileConfig } from './targets.ts';

function compile(document: unknown) {
  const parsed = parseConfigDocument(document, 'refuse');
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return compileConfig(parsed.config as ConfigNode);
}

describe('compileConfig', () => {
  it('takes a flat config as its own target', () => {
    const { target, strategyMode, namesProvider } = compile({
      provider: '@openai-prod',
      request_timeout: 500,
    });
    expect({
      strategyMode,
      namesProvider,
      path: target.path,
      provider: target.provider,
      timeout: target.requestTimeoutMs,
    }).toEqual({
      strategyMode: 'single',
      namesProvider: true,
      path: 'config',
      provider: '@openai-prod',
      timeout: 500,
    });
  });

  it('hands inherited settings down and lets the target win', () => {
    const { target } = compile({
      strategy: { mode: 'single' },
      requestTimeout: 1000,
      override_params: { temperature: 0, model: 'a' },
      targets: [{ virtual_key: 'main', request_timeout: 200, override_params: { model: 'b' } }],
    });
    expect(target).toMatchObject({
      path: 'config.targets[0]',
      provider: '@main',
      requestTimeoutMs: 200,
      overrideParams: { temperature: 0, model: 'b' },
    });
  });

  it('keeps provider-specific settings apart from routing', () => {
    const { target } = compile({
      provider: 'openai',
      api_key: 'sk-x',
      openai_organization: 'org-x',
    });
    expect(target.configurations).toEqual({ openai_organization: 'org-x' });
    expect(target.apiKey).toBe('sk-x');
  });

  it.each([
    [
      'several targets',
      {
        strategy: { mode: 'fallback' },
        targets: [{ provider: 'openai' }, { provider: 'anthropic' }],
      },
      'config.strategy.mode',
    ],
    ['a cache', { provider: 'openai', cache: { mode: 'simple' } }, 'config.cache'],
    [
      'guardrails',
      { targets: [{ provider: 'openai', input_guardrails: ['pg-1'] }] },
      'config.targets[0].input_guardrails',
    ],
    ['retries', { provider: 'openai', retry: { attempts: 2 } }, 'config.retry.attempts'],
  ])('refuses %s with the path, rather than ignoring it', (_name, document, field) => {
    try {
      compile(document);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError);
      expect(error).toMatchObject({ code: 'config.invalid', field });
    }
  });
});
