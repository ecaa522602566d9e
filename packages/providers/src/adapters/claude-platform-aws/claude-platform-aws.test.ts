import { describe, expect, it } from 'vitest';
import { baseUrlOf, pathOf } from '../../address.ts';
import { authHeaders } from '../../auth-headers.ts';
import { findProvider } from '../../catalog.ts';
import { findTranslation } from '../../translation/find-translation.ts';

const provider = findProvider('claude-platform-aws')!;

describe('claude-platform-aws', () => {
  it('is Anthropic’s API at a regional address', () => {
    const facts = {
      model: '',
      stream: true,
      setting: (name: string) => (name === 'aws-region' ? 'us-west-2' : undefined),
    };
    const call = findTranslation(provider, 'messages', facts);
    expect(call.mode).toBe('native');
    expect(baseUrlOf(provider, call.entry, facts) + pathOf(call.entry, facts)).toBe(
      'https://aws-external-anthropic.us-west-2.api.aws/v1/messages',
    );
    expect(provider.auth).toEqual({ type: 'aws', service: 'aws-external-anthropic' });
  });

  it('names the workspace, what is configured before what is asked', () => {
    const asked = { 'x-service-anthropic-aws-workspace-id': 'wrkspc_asked', 'anthropic-beta': 'b' };
    const headers = (configurations: Record<string, unknown>) =>
      authHeaders(provider, { apiKey: '', configurations }, asked);
    expect(headers({})).toEqual({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'b',
      'anthropic-workspace-id': 'wrkspc_asked',
    });
    expect(headers({ anthropic_aws_workspace_id: 'wrkspc_set' })['anthropic-workspace-id']).toBe(
      'wrkspc_set',
    );
  });
});
